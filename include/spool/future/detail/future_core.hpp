// future_core: the untyped half of a future's shared state: its phase, its waiters, its
// cancellation, its on_done callbacks and its lifetime.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
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
    /// The future's task calls this: run(). True: the right to run has moved back into a queue, and
    /// the task no longer holds it.
    virtual bool run_as_task() {
        run();
        return false;
    }

    // ---- For timer queues, which link the states directly. The defaults suit a state in none.
    struct queue_links {
        union {
            future_core* before;
            std::size_t index;
        };
        future_core* after;
    };
    /// The queue that holds the right to run may use the links until the outcome is written.
    [[nodiscard]] queue_links& links() noexcept { return links_; }
    /// The start word. For a state in a timer queue it names that queue's timer_gate, and changes
    /// under the queue's lock. For other futures it decides nested waits; see future_link.
    [[nodiscard]] const void* start() const noexcept { return start_.load(); }
    void set_start(const void* to) noexcept { start_.store(to); }
    /// Returns the task of a state in a timer queue: it owns the right to run, or it is the carried
    /// task.
    [[nodiscard]] virtual task take_task() noexcept { return {}; }
    /// Removes the state from the timer queue of `pool`, for a waiter that will run the task.
    /// Returns an empty task if the state is not in that queue, not due or periodic.
    [[nodiscard]] virtual task take_if_due(const void* /*pool*/) { return {}; }
    /// The pool whose timer queue holds the state, or null; and whether the state is due there.
    struct timer_place {
        const void* home = nullptr;
        bool due = false;
    };
    [[nodiscard]] virtual timer_place place_among_timers() const { return {}; }
    /// How long until the task is due; zero if the state is in no timer queue.
    [[nodiscard]] virtual std::chrono::nanoseconds delay() const { return std::chrono::nanoseconds::zero(); }
    /// What a timer queue must know about a state. `none`: not a scheduled future. A timer queue
    /// holds the task of such a future in a carried_task, which is `none` too.
    enum class timer_kind : unsigned char { none, once, at_wall_time, periodic };
    [[nodiscard]] virtual timer_kind kind() const noexcept { return timer_kind::none; }
    /// For at_wall_time: the time of day at which the task is due.
    [[nodiscard]] virtual std::chrono::system_clock::time_point wall_time() const noexcept { return {}; }
    /// How often a periodic body was started, and how many of its exceptions were reported.
    struct run_counts {
        std::uint64_t runs = 0;
        std::uint64_t failures = 0;
    };
    [[nodiscard]] virtual run_counts counts() const noexcept { return {}; }

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
    /// The submission time, for hooks, or the due time. Written before the task is published; a
    /// timer queue changes it under its own lock.
    due_time when{};
    /// The priority that hooks see. Written before the task is published.
    int priority = 0;

private:
    // Declared here to fill padding: the state of a small callable takes 88 bytes.
    done_event waiters_;

public:
    // ---- Reading.
    [[nodiscard]] bool is_done() const noexcept { return word().is_final(); }
    [[nodiscard]] future_state state() const noexcept;
    [[nodiscard]] phase now() const noexcept { return word().now(); }
    /// The exception. Precondition: the future has failed.
    [[nodiscard]] const std::exception_ptr& error() const noexcept { return error_; }
    [[nodiscard]] task_id id() const noexcept { return id_; }
    [[nodiscard]] std::string describe() const;

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

    bool cancel(cancel_mode mode);
    /// Fails the future by hand. False, with no effect, if it was done or about to be.
    bool set_exception(std::exception_ptr error);

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

    /// For describe().
    [[nodiscard]] virtual const std::type_info& body_type() const noexcept = 0;
    /// Called when cancel() wins before the body has started. A timer queue then drops the state.
    virtual void leave_queue() noexcept {}

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

    /// For set_value(): true if the caller may write the outcome. The callable is then destroyed,
    /// unless the body is running.
    [[nodiscard]] bool claim_by_hand() noexcept;

    /// Ends the claim: publishes the outcome, wakes the waiters, calls the callbacks.
    /// \throws the first exception from a callback, after all callbacks were called
    void finish(phase final);
    void finish_failed(std::exception_ptr error) {
        std::construct_at(&error_, std::move(error));
        finish(phase::failed);
    }

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
        queue_links links_{};       // until there is an outcome
        std::exception_ptr error_;  // I1; alive once failed
    };
};

}  // namespace detail
}  // namespace spool::inline v1
