// future_core: the untyped half of a future's shared state: its phase, its waiters, its
// cancellation, its on_done callbacks and its lifetime.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <typeinfo>
#include <utility>

#include "spool/base/export.hpp"
#include "spool/base/task.hpp"
#include "spool/detail/done_event.hpp"
#include "spool/detail/future_link.hpp"
#include "spool/detail/pause_point.hpp"
#include "spool/detail/task_scope.hpp"
#include "spool/future/detail/future_steps.hpp"
#include "spool/future/detail/future_word.hpp"

namespace spool::inline v1 {

/// The state of a future: Java's Future.State, with a separate value for "not started".
enum class future_state { pending, running, succeeded, failed, cancelled };

namespace detail {

class future_core;

/// What pools and waiters ask of a state that lies in a queue by itself, with no task around it, so
/// that its queue entry costs no memory of its own.
struct listed_ops {
    /// Removes the state from the queue of `pool` and returns its task, for a waiter that runs it
    /// at once. Empty if the state does not lie there or may not run yet.
    task (*try_take)(future_core& state, const void* pool);
    /// Where the state lies, and whether its task may run now.
    future_link::place (*place)(const future_core& state);
    /// cancel() has won before the body was started.
    void (*cancelled)(future_core& state) noexcept;
    /// How many runs of the body have begun. Tells the stays of one state in a queue apart.
    std::uint64_t (*runs)(const future_core& state) noexcept;
};

class SPOOL_API future_core {
public:
    future_core(const future_core&) = delete;
    future_core& operator=(const future_core&) = delete;

    // ---- Lifetime. All handles (future<T>) share one reference; the right to run holds another.
    void add_handle() noexcept {
        // relaxed, owner: the caller copies a handle that it holds
        handles_.fetch_add(1, std::memory_order_relaxed);
    }
    void drop_handle() noexcept;
    /// True if the calling handle is the only one. Acquire: uses of dropped handles happen before.
    [[nodiscard]] bool is_last_handle() const noexcept {
        return handles_.load(std::memory_order_acquire) == 1;  // pairs with drop_handle()
    }
    /// Ends the right to run. A body that has not started never will, so the future becomes
    /// cancelled, unless a waiter has claimed the body.
    void drop_runner() noexcept;

    // ---- Running.
    /// Runs the body on this thread, unless it was started before, and completes the future.
    /// \throws what an on_done callback throws
    void run();
    /// Runs the body on this thread, discards its result and resets the future to idle. False if
    /// the future was not idle, if the body threw (the future is then failed), or if it was
    /// cancelled meanwhile.
    bool run_and_reset();

    // ---- For states that lie in a queue by themselves; see listed_ops.
    /// Null: a queue holds this state inside a task, if at all.
    [[nodiscard]] virtual const listed_ops* listed() const noexcept { return nullptr; }
    /// A word for the queue in which the state lies. Precondition: the future has not failed.
    [[nodiscard]] std::uintptr_t& queue_word() noexcept { return queue_word_; }
    /// The start word: while the state lies in a queue by itself, the queue chooses its value and
    /// changes it under its own lock. For other futures it decides nested waits; see future_link.
    [[nodiscard]] const void* start() const noexcept { return start_.load(); }
    void set_start(const void* to) noexcept { start_.store(to); }

    // ---- For pools and nested waits: which thread may start the body. Protocol: see future_link.
    /// A waiting worker of `pool` claims the body. Succeeds only while the task lies claimable in
    /// that pool's queue.
    [[nodiscard]] bool claim_by_waiter(const void* pool) noexcept {
        SPOOL_PAUSE_POINT("future: about to be claimed by who waits");
        return start_.compare_exchange_strong(pool, at(pool, home_use::claimed));
    }
    /// Moves the start word to `to`: a pool with its home_use, null, or out_mark(). False, with no
    /// effect, if a waiter has claimed the body.
    [[nodiscard]] bool move_start(const void* to) noexcept {
        for (const void* now = start_.load(); use_of(now) != home_use::claimed;) {
            SPOOL_PAUSE_POINT("future: its start is about to move");
            if (start_.compare_exchange_weak(now, to)) {
                return true;
            }
        }
        return false;
    }
    /// Moves the start word only from null: no thread has taken the task in hand meanwhile.
    void move_start_from_null(const void* to) noexcept {
        const void* null = nullptr;
        start_.compare_exchange_strong(null, to);
    }
    [[nodiscard]] bool claimed_by_waiter() const noexcept {
        return use_of(start_.load()) == home_use::claimed;
    }
    /// What a pool does with the task. Stored in the two low bits of the pool's address.
    enum class home_use : std::uintptr_t { queued, kept, in_hand, claimed };
    [[nodiscard]] static const void* at(const void* pool, home_use use) noexcept {
        return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(pool) |
                                             static_cast<std::uintptr_t>(use));
    }
    [[nodiscard]] static home_use use_of(const void* start) noexcept {
        return static_cast<home_use>(reinterpret_cast<std::uintptr_t>(start) & 3U);
    }
    [[nodiscard]] static const void* home_of(const void* start) noexcept {
        return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(start) & ~std::uintptr_t{3});
    }
    [[nodiscard]] static const void* out_mark() noexcept;
    [[nodiscard]] future_link::place whereabouts() const;
    /// A forked child calls this on its only thread; see lost_home.
    static void after_fork_in_child() noexcept;

    void add_reference() noexcept {
        references_.fetch_add(1, std::memory_order_relaxed);  // relaxed, owner: the caller has one
    }
    void drop_reference() noexcept;
    /// The submission time, for hooks; or when the task is due. Written before the task is
    /// published. A queue in which the state lies by itself changes it under its own lock.
    due_time stamp{};
    /// The priority that hooks see. Written before the task is published.
    int priority = 0;

private:
    // Declared here to fill padding: the state of a small callable takes 80 bytes.
    done_event waiters_;

public:
    // ---- Reading.
    [[nodiscard]] bool is_done() const noexcept { return word().is_final(); }
    [[nodiscard]] future_state state() const noexcept;
    [[nodiscard]] phase now() const noexcept { return word().now(); }
    /// The future_result<T> of a future<T>; null for a state that no future refers to.
    [[nodiscard]] virtual void* result() noexcept { return nullptr; }
    /// The exception. Precondition: the future has failed.
    [[nodiscard]] const std::exception_ptr& error() const noexcept { return error_; }
    [[nodiscard]] task_id id() const noexcept { return id_; }
    [[nodiscard]] std::string describe() const;
    /// For describe() and measurements.
    [[nodiscard]] virtual const std::type_info& body_type() const noexcept = 0;
    /// The name that named() gave the body, or null. Precondition: the body has not begun.
    [[nodiscard]] virtual const char* body_name() const noexcept { return nullptr; }

    /// Waits until the future is done.
    [[nodiscard]] wait_result wait(const wait_limits& limits);
    /// The same for the public calls. The form without a token uses the current task's token, and
    /// fetches it only if it has to wait. On a worker, a wait without a time limit may run the body
    /// on this thread.
    /// \throws interrupted, naming `call`; std::logic_error if a wait without limit would wait for
    /// the caller itself
    void wait_or_throw(const char* call);
    void wait_or_throw(std::stop_token stop, const char* call);
    /// The same with a time limit. False: timed out.
    bool wait_in_time(deadline until, const char* call);
    bool wait_in_time(deadline until, std::stop_token stop, const char* call);

    // ---- Completing.
    bool cancel(cancel_mode mode);
    /// Fails the future by hand. False, with no effect, if it was done or about to be.
    bool set_exception(std::exception_ptr error);
    /// For a value set by hand: true if the caller may write the outcome. The callable is then
    /// destroyed, unless the body is running.
    [[nodiscard]] bool claim_by_hand() noexcept;
    /// Ends the claim: publishes the outcome, wakes the waiters, calls the callbacks.
    /// \throws the first exception from a callback, after all callbacks were called
    void finish(phase final);
    void finish_failed(std::exception_ptr error) {
        std::construct_at(&error_, std::move(error));
        finish(phase::failed);
    }

    struct callback_node {
        task call;
        callback_node* next;
    };
    using callback_ptr = std::unique_ptr<callback_node>;
    [[nodiscard]] static callback_ptr prepare(task callback);
    /// Calls the callback once the future is done: on the completing thread, or immediately on this
    /// one. Allocates nothing.
    void on_done(callback_ptr callback);

protected:
    future_core() noexcept {}
    virtual ~future_core();

    /// Calls the body, destroys the callable, and completes the future unless another thread
    /// decided the outcome meanwhile.
    virtual void run_body(task_scope& scope) = 0;
    /// Calls the body and discards its result.
    virtual void run_body_and_forget() = 0;
    virtual void destroy_callable() noexcept = 0;

    /// For run_body(), after the body has ended: destroys the callable, then claims the outcome.
    /// True: the caller writes the outcome and calls finish(). False: another thread decided the
    /// outcome, and the caller drops its result.
    [[nodiscard]] bool claim_after_run(task_scope& scope) noexcept;
    void fail_after_run(task_scope& scope, std::exception_ptr error);

private:
    [[nodiscard]] future_word word() const noexcept {
        const future_word seen = word_.load();
        return seen.is_final() || id_ >= first_own_id ? seen : word_after_fork(seen);
    }
    [[nodiscard]] bool is_lost() const noexcept {
        const future_word seen = word_.load();
        return !seen.is_final() && id_ < first_own_id && word_after_fork(seen) != seen;
    }
    [[nodiscard]] future_word word_after_fork(future_word seen) const noexcept;
    [[nodiscard]] static const void* mark_of_this_thread() noexcept;
    void help_out(const std::stop_token& stop);
    [[nodiscard]] bool depends_on_caller() const noexcept;
    class host;  // the Host of future_steps
    struct steps;
    void call_back();
    static callback_node* closed() noexcept;

    std::atomic<future_word> word_{};  // see future_word; the final store publishes the outcome
    // Newest first; closed() once call_back() has taken the list.
    std::atomic<callback_node*> callbacks_{nullptr};
    const task_id id_ = next_task_id();  // also the id of the task that runs the body
    // Which thread may start the body. Pool addresses are only compared, never dereferenced.
    std::atomic<const void*> start_{nullptr};
    std::atomic<std::uint32_t> handles_{1};
    std::atomic<std::uint32_t> references_{2};  // one for all handles, one for the right to run
    union {
        std::uintptr_t queue_word_ = 0;  // unless failed
        std::exception_ptr error_;       // I1; alive once failed
    };
};

}  // namespace detail
}  // namespace spool::inline v1
