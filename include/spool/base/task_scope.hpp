// task_scope: where a running task's stop lives. For those who write executors; tasks use this_task.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <stop_token>

#include "spool/base/export.hpp"
#include "spool/base/mutex.hpp"
#include "spool/base/thread_sanitizer.hpp"

namespace spool::inline v1 {

class clock_source;
class task;

/// The stop of the task that this thread runs now. An executor opens one around each task that it runs:
///
///     spool::task_scope scope{work};
///     work();
///
/// While it is open, this_task::stop_token() and every plain wait in the task use it. Scopes nest (a task run
/// inside a task, say by direct_executor): a stop of the outer one is passed on to the inner, never the reverse.
///
/// Nothing is allocated until somebody asks for the token, so a task that never asks pays nothing. The stop state is
/// dropped with the scope, or by reset() where a worker keeps one scope for all its tasks: a token or a
/// callback that a task left behind is never touched by what happens to a later task.
///
/// Thread safety: interrupt() may be called from any thread while the scope is known to live; everything else
/// belongs to the thread that opened it.
class SPOOL_API task_scope {
public:
    /// Opens the scope on this thread.
    task_scope() noexcept;
    /// The same for a given task: if it is the body of a future, the future takes the scope over, so that
    /// cancelling the future stops this scope and not one nested in it.
    explicit task_scope(const task& work) noexcept;
    /// The same for the body of a future that is run without its task.
    enum class of_future {};
    explicit task_scope(of_future) noexcept;
    ~task_scope();
    task_scope(const task_scope&) = delete;
    task_scope& operator=(const task_scope&) = delete;

    /// Whether it is one of this thread's: the innermost, or one around it. Only compares; it need not live.
    [[nodiscard]] static bool is_open_here(const task_scope* scope) noexcept;

    /// The scope around this one on the same thread, or null.
    [[nodiscard]] const task_scope* outer() const noexcept { return outer_; }
    /// The innermost scope of this thread, or null outside of any task.
    [[nodiscard]] static task_scope* current() noexcept { return innermost_; }
    /// Its token; outside of any task one that never stops.
    [[nodiscard]] static std::stop_token current_token();

    /// The token. Allocates the stop state the first time.
    [[nodiscard]] std::stop_token token();
    /// A stop was requested of this scope or of one around it.
    [[nodiscard]] bool stop_requested() const noexcept {
        for (const task_scope* scope = this; scope != nullptr; scope = scope->outer_) {
            // (A) acquire: what the requester did before interrupt() is visible to the task that sees the stop
            if (scope->stopped_.load(std::memory_order_acquire)) {
                return true;
            }
        }
        return false;
    }

    /// Marks the scope stopped and returns the source on which the caller then calls request_stop(), holding no lock:
    /// callbacks are users' code. (The source is without state if nobody has asked for the token yet; one who asks
    /// later finds it stopped.)
    [[nodiscard]] std::stop_source interrupt() noexcept;

    /// Makes the scope as new, for the next task.
    void reset(const task& next) noexcept;
    /// The same for a task of which only that is known: whether it is the body of a future.
    void reset_for(bool body_of_future) noexcept {
        adoptable_ = body_of_future;
        // relaxed, owner: whoever may interrupt() this task was kept out before the task counts as ended
        if (token_given_ || stopped_.load(std::memory_order_relaxed)) {
            drop_state();
        }
    }

    /// For a scope that was reset after its last task: forgets a token that somebody has asked for since.
    void drop_leftover_token() noexcept {
        if (token_given_) [[unlikely]] {
            drop_state();
        }
    }

    /// The clock of the pool whose worker opened the scope; it outlives the scope. Null: the real one, or that of a scope around this one.
    void set_clock(const clock_source* clock) noexcept { clock_ = clock; }
    /// The time by the clock of the innermost scope that has one; by the real clock outside of all.
    [[nodiscard]] static std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>
    clock_now() noexcept;

    /// For futures, on the thread that opened the scope: the body that runs in it has ended, and its callable is being destroyed.
    void set_body_ended(bool ended) noexcept { body_ended_ = ended; }
    [[nodiscard]] bool body_ended() const noexcept { return body_ended_; }

    /// Takes over the innermost scope if it was opened for the body of a future and not taken yet, else null.
    [[nodiscard]] static task_scope* adopt() noexcept;

    // ---- In a forked child

    /// To be called on its only thread: what that thread runs goes on, whatever the others were doing to it.
    static void survive_fork() noexcept;
    /// Whether `scope`, which was there before the fork, is one of that thread; the others are gone.
    [[nodiscard]] static bool survived_fork(const task_scope* scope) noexcept;

private:
    void drop_state() noexcept;

    struct pass_on {
        task_scope* inner;
        void operator()() const noexcept;
    };

    static constinit thread_local task_scope* innermost_;

    detail::mutex mutex_;                                                 // never held while user code runs
    std::stop_source source_ SPOOL_GUARDED_BY(mutex_){std::nostopstate};  // made by token()
    std::optional<std::stop_callback<pass_on>> from_outer_;  // owner only; there once the token was asked for
    std::atomic<bool> stopped_{false};     // set by interrupt() under mutex_, read by the owner without it
    bool token_given_ = false;             // owner only
    bool adoptable_ = false;               // owner only
    bool body_ended_ = false;              // owner only
    const clock_source* clock_ = nullptr;  // owner only
    task_scope* const outer_;              // the scope around this one, on the same thread
};

}  // namespace spool::inline v1
