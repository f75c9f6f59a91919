// in_background: one call on its own thread and in its own task_scope. It never outlives the test.
#pragma once

#include <unistd.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "spool/base/deadline.hpp"
#include "spool/base/error.hpp"
#include "spool/detail/task_scope.hpp"
#include "support/eventually.hpp"
#include "support/gate.hpp"
#include "support/others_sleep.hpp"

namespace test {

/// A limit for waits that reach it only if something is broken. It is later than the limit of
/// in_background::ends(). Otherwise a waiter whose wake-up was lost would look once more at its
/// deadline, and would seem to have been woken.
inline spool::deadline backstop() {
    return spool::deadline::after(2 * long_delay());
}

/// Starts `f()` at once. The destructor interrupts a call that still waits, and joins the thread.
class in_background {
public:
    template <class F>
    explicit in_background(F f) : thread_([this, f = std::move(f)]() mutable { run(f); }) {}
    in_background(const in_background&) = delete;
    in_background& operator=(const in_background&) = delete;
    ~in_background() {
        interrupt();
        thread_.join();
    }

    /// Requests the stop of the scope that `f` runs in.
    void interrupt() {
        std::stop_source source{std::nostopstate};
        {
            const std::lock_guard lock{mutex_};
            stopped_early_ = scope_ == nullptr;
            if (scope_ != nullptr) {
                source = scope_->interrupt();
            }
        }
        source.request_stop();
    }

    /// True as soon as the kernel says that the thread sleeps. No check depends on this: what a
    /// test does next has the same result while the thread is still about to sleep.
    [[nodiscard]] bool falls_asleep() const {
        return eventually([this] { return id_ != 0 && is_asleep() && is_asleep(); });
    }
    [[nodiscard]] bool has_ended() const { return ended_.is_open(); }
    /// False means that something is broken.
    [[nodiscard]] bool ends() const { return ended_.opens(); }
    /// After ends(): whether the call ended with the exception `interrupted`.
    [[nodiscard]] bool was_interrupted() const { return interrupted_; }
    /// After ends(): any other exception that the call threw.
    [[nodiscard]] std::exception_ptr error() const { return error_; }

    std::thread::native_handle_type native_handle() { return thread_.native_handle(); }

private:
    template <class F>
    void run(F& f) {
        spool::task_scope scope;
        set_scope(&scope);
        id_ = gettid();
        try {
            f();
        } catch (const spool::interrupted&) {
            interrupted_ = true;
        } catch (...) {
            error_ = std::current_exception();
        }
        set_scope(nullptr);
        ended_.open();
    }
    void set_scope(spool::task_scope* scope) {
        std::stop_source source{std::nostopstate};
        {
            const std::lock_guard lock{mutex_};
            scope_ = scope;
            if (scope != nullptr && stopped_early_) {
                source = scope->interrupt();
            }
        }
        source.request_stop();
    }
    // The field after the name in parentheses is the state; S is an interruptible sleep.
    [[nodiscard]] bool is_asleep() const { return test::is_asleep(std::to_string(id_.load())); }

    std::mutex mutex_;
    spool::task_scope* scope_ = nullptr;  // guarded by mutex_; null before and after the call
    bool stopped_early_ = false;          // guarded by mutex_
    std::atomic<pid_t> id_{0};
    bool interrupted_ = false;  // published by ended_
    std::exception_ptr error_;  // published by ended_
    gate ended_;
    std::thread thread_;  // last: the thread uses all other members
};

}  // namespace test
