// task_scope: the stop state of a running task. For authors of executors; tasks use this_task.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <stop_token>

#include "spool/base/export.hpp"
#include "spool/detail/mutex.hpp"
#include "spool/detail/thread_sanitizer.hpp"

namespace spool::inline v1 {

class clock_source;
class task;

/// The stop state of the task that this thread runs now. An executor opens a scope around each task
/// that it runs:
///
///     spool::task_scope scope{work};
///     work();
///
/// While the scope is open, this_task::stop_token() uses it, and so does every wait in the task
/// without a stop_token argument. Scopes nest when a task runs inside a task, for example in a
/// direct_executor. A stop of the outer scope is passed on to the inner one, never the reverse.
///
/// The first request for the token allocates the stop state, so a task that never asks pays
/// nothing. The scope drops the stop state when it closes. A worker that keeps one scope for all
/// its tasks drops the stop state with reset(). So what happens to a later task never reaches a
/// token or a callback that an earlier task left behind.
///
/// Thread safety: any thread may call interrupt() while the scope is known to live. Every other
/// member belongs to the thread that opened the scope.
class SPOOL_API task_scope {
public:
    /// Opens the scope on this thread.
    task_scope() noexcept;
    /// Opens the scope for `work`. If `work` is the body of a future, that future adopts the scope:
    /// cancelling the future then stops this scope, not one nested in it.
    explicit task_scope(const task& work) noexcept;
    /// Opens the scope for a future that a waiting worker has claimed; its task stays in the queue.
    enum class of_future {};
    explicit task_scope(of_future) noexcept;
    ~task_scope();
    task_scope(const task_scope&) = delete;
    task_scope& operator=(const task_scope&) = delete;

    /// Whether `scope` is open on this thread: it is the innermost scope or encloses it. The
    /// function only compares addresses; `scope` may be dangling.
    [[nodiscard]] static bool is_open_here(const task_scope* scope) noexcept;

    /// The enclosing scope on the same thread, or null.
    [[nodiscard]] const task_scope* outer() const noexcept { return outer_; }
    /// The innermost scope of this thread, or null outside of any task.
    [[nodiscard]] static task_scope* current() noexcept { return innermost_; }
    /// The token of the innermost scope. Outside of any task, a token that never stops.
    [[nodiscard]] static std::stop_token current_token();

    /// current_token() for a wait that must happen even if there is no memory for the token.
    [[nodiscard]] static std::stop_token current_token_or_none() noexcept;
    /// The token of this scope. The first call allocates the stop state.
    [[nodiscard]] std::stop_token token();
    /// Whether a stop was requested of this scope or of an enclosing one.
    [[nodiscard]] bool stop_requested() const noexcept {
        for (const task_scope* scope = this; scope != nullptr; scope = scope->outer_) {
            // acquire: pairs with the release in interrupt()
            if (scope->stopped_.load(std::memory_order_acquire)) {
                return true;
            }
        }
        return false;
    }

    /// Marks the scope as stopped and returns its stop source. The caller then calls request_stop()
    /// on the source, holding no lock, because stop callbacks are user code. The source has no
    /// state if the token was never requested; a token requested later is already stopped.
    [[nodiscard]] std::stop_source interrupt() noexcept;

    /// Resets the scope for `next`: drops the stop request and the stop state of the previous task.
    void reset(const task& next) noexcept;
    /// The same if no next task is known yet: no future adopts the scope.
    void reset() noexcept {
        adoptable_ = false;
        // relaxed, owner: once a task has ended, no thread can interrupt() it any more
        if (token_issued_ || stopped_.load(std::memory_order_relaxed)) {
            reset_stop_state();
        }
    }

    /// For a scope that was reset after its last task: drops a token that was requested since then.
    void reset_leftover_token() noexcept {
        if (token_issued_) [[unlikely]] {
            reset_stop_state();
        }
    }

    /// Sets the clock of the pool whose worker opened the scope; the clock must outlive the scope.
    /// Null: the clock of an enclosing scope, else the real clock.
    void set_clock(const clock_source* clock) noexcept { clock_ = clock; }
    /// The current time on the clock of the innermost scope that has one, else on the real clock.
    [[nodiscard]] static std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>
    clock_now() noexcept;

    /// For futures: `ended` while this thread destroys the callable, after the body has returned or
    /// thrown.
    enum class body_phase : bool { running, ended };
    void set_body_phase(body_phase phase) noexcept { body_phase_ = phase; }
    [[nodiscard]] bool has_body_ended() const noexcept { return body_phase_ == body_phase::ended; }

    /// Adopts the innermost scope if it was opened for the body of a future and is not adopted yet.
    /// Returns null otherwise.
    [[nodiscard]] static task_scope* adopt() noexcept;

    // ---- In a forked child

    /// Call it on the only thread of the child. It repairs this thread's open scopes, which other
    /// threads may have been changing at the fork, and records them for is_of_forking_thread().
    static void after_fork_in_child() noexcept;
    /// Whether `scope`, which was open before the fork, belongs to that thread. All other threads
    /// are gone.
    [[nodiscard]] static bool is_of_forking_thread(const task_scope* scope) noexcept;

private:
    void reset_stop_state() noexcept;

    struct forward_stop {
        task_scope* inner;
        void operator()() const noexcept;
    };

    static constinit thread_local task_scope* innermost_;

    // Never held while user code runs. Aligned, because a future's word packs bits beside the
    // address of a scope.
    alignas(16) detail::mutex mutex_;
    // Created by token().
    std::stop_source source_ SPOOL_GUARDED_BY(mutex_){std::nostopstate};
    // Owner only; set by token().
    std::optional<std::stop_callback<forward_stop>> stop_from_outer_;
    // interrupt() sets it under mutex_; the owner reads it without the mutex.
    std::atomic<bool> stopped_{false};
    bool token_issued_ = false;                    // owner only
    bool adoptable_ = false;                       // owner only
    body_phase body_phase_ = body_phase::running;  // owner only
    const clock_source* clock_ = nullptr;          // owner only
    task_scope* const outer_;                      // the enclosing scope on the same thread
};

}  // namespace spool::inline v1
