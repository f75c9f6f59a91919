// future_core: the half of a future's shared state that does not depend on its type: its life, its
// waiters, its cancellation, who is called when it is done, and how long it lives.
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
#include "spool/base/pause_point.hpp"
#include "spool/base/task.hpp"
#include "spool/base/task_scope.hpp"
#include "spool/future/detail/future_steps.hpp"
#include "spool/future/detail/future_word.hpp"
#include "spool/future/future_link.hpp"
#include "spool/sync/done_event.hpp"

namespace spool::inline v1 {

/// Where a future is, as Java's Future.State with "not started" told apart.
enum class future_state { pending, running, succeeded, failed, cancelled };

namespace detail {

class SPOOL_API future_core {
public:
    future_core(const future_core&) = delete;
    future_core& operator=(const future_core&) = delete;

    // ---- Lifetime. The handles (future<T>) together hold one reference, the right to run holds another.
    void add_handle() noexcept {
        handles_.fetch_add(1,
                           std::memory_order_relaxed);  // relaxed, owner: copied from a handle that is ours
    }
    void drop_handle() noexcept;
    /// True if the calling handle is the only one. Acquire: what the others did with theirs came before.
    [[nodiscard]] bool is_last_handle() const noexcept {
        return handles_.load(std::memory_order_acquire) == 1;  // pairs with drop_handle()
    }
    /// Ends the right to run: a body that has not started never will, so the future is cancelled.
    void drop_runner() noexcept;

    // ---- Running.
    /// Runs the body here if nobody has started it, and completes the future. An exception that leaves it comes
    /// from an on_done callback.
    void run();
    /// Runs the body here without keeping its result, and makes the future as it was. False if it was not idle,
    /// threw (then the future failed) or was cancelled meanwhile.
    bool run_and_reset();
    /// What its task does when it is called: run(). True: the right to run has gone elsewhere (back into a queue), and is no longer
    /// the task's.
    virtual bool run_as_task() {
        run();
        return false;
    }

    // ---- Timer queues, which link the states themselves. The default is a state that is in none.
    struct queue_links {
        union {
            future_core* before;
            std::size_t index;
        };
        future_core* after;
    };
    /// Free for use while the outcome is not being written, by the queue that holds the right to run.
    [[nodiscard]] queue_links& links() noexcept { return links_; }
    /// Which queue that is, if it is a timer queue; changed under its lock. (Others keep it where nested waits look: the same word.)
    [[nodiscard]] const void* start() const noexcept { return start_.load(); }
    void set_start(const void* to) noexcept { start_.store(to); }
    /// The task of a state that lies in a timer queue: the right to run, or what it was made for.
    [[nodiscard]] virtual task take_task() noexcept { return {}; }
    /// It lies in the timer queue of `pool` and is due: takes it out, for a waiter that will run it.
    [[nodiscard]] virtual task take_if_due(const void* /*pool*/) { return {}; }
    /// The pool whose timer queue holds it, or null; and whether it is due by the clock of that queue.
    struct timer_place {
        const void* home = nullptr;
        bool due = false;
    };
    [[nodiscard]] virtual timer_place place_among_timers() const { return {}; }
    /// How long until it is due; zero if it waits in no timer queue.
    [[nodiscard]] virtual std::chrono::nanoseconds delay() const { return std::chrono::nanoseconds::zero(); }
    /// What a timer queue must know; `none` never lies in one itself.
    enum class timer_kind : unsigned char { none, once, at_wall_time, periodic };
    [[nodiscard]] virtual timer_kind kind() const noexcept { return timer_kind::none; }
    /// For at_wall_time: which.
    [[nodiscard]] virtual std::chrono::system_clock::time_point wall_time() const noexcept { return {}; }
    /// How often a periodic body was started, and how often it threw.
    struct run_counts {
        std::uint64_t runs = 0;
        std::uint64_t failures = 0;
    };
    [[nodiscard]] virtual run_counts counts() const noexcept { return {}; }

    // ---- Pools and nested waits: who may start the body. See future_link for the protocol.
    /// A waiter of `pool` takes it on, if it lies in that pool's queue.
    [[nodiscard]] bool claim_by_waiter(const void* pool) noexcept {
        SPOOL_PAUSE_POINT("future: about to be claimed by who waits");
        return start_.compare_exchange_strong(pool, at(pool, home_use::claimed));
    }
    /// Everybody else moves it anywhere, unless a waiter has it. `to`: a pool and what it does, null, or out_mark().
    [[nodiscard]] bool move_start(const void* to) noexcept {
        for (const void* now = start_.load(); use_of(now) != home_use::claimed;) {
            SPOOL_PAUSE_POINT("future: its start is about to move");
            if (start_.compare_exchange_weak(now, to)) {
                return true;
            }
        }
        return false;
    }
    /// From null only: nobody has had the task in hand since.
    void move_start_from_null(const void* to) noexcept {
        const void* null = nullptr;
        start_.compare_exchange_strong(null, to);
    }
    [[nodiscard]] bool claimed_by_waiter() const noexcept {
        return use_of(start_.load()) == home_use::claimed;
    }
    /// What a pool does with it, in the low bits of the pool's address.
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
    /// In a forked child, on its only thread; see lost_home.
    static void survive_fork() noexcept;

    void add_reference() noexcept {
        references_.fetch_add(1, std::memory_order_relaxed);  // relaxed, owner: the caller has one
    }
    void drop_reference() noexcept;
    /// When it was submitted, for hooks, or when it is due. Written before the task can be seen by others; a timer queue changes it
    /// under its own lock.
    due_time when{};
    /// What hooks learn of it; likewise.
    int priority = 0;

private:
    done_event waiters_;  // here, where it fills the gap: a state for a small callable is 88 bytes

public:
    // ---- Reading.
    [[nodiscard]] bool is_done() const noexcept { return word().is_final(); }
    [[nodiscard]] future_state state() const noexcept;
    [[nodiscard]] phase now() const noexcept { return word().now(); }
    /// The exception, once failed.
    [[nodiscard]] const std::exception_ptr& error() const noexcept { return error_; }
    [[nodiscard]] task_id id() const noexcept { return id_; }
    [[nodiscard]] std::string describe() const;

    /// Waits until it is final.
    [[nodiscard]] wait_result wait(const wait_limits& limits);
    /// The same for the public calls: \throws interrupted, naming `call`; std::logic_error where a wait without limit would wait for the
    /// caller itself. Without a token, the current task's is used, asked for
    /// only when there is something to wait for. On a worker, the one without a time limit may run the body right here.
    void wait_or_throw(const char* call);
    void wait_or_throw(std::stop_token stop, const char* call);
    /// False: timed out.
    bool wait_in_time(deadline until, const char* call);
    bool wait_in_time(deadline until, std::stop_token stop, const char* call);

    bool cancel(cancel_mode mode);
    /// Fails it by hand. False, and nothing changed, if it was final or about to be.
    bool set_exception(std::exception_ptr error);

    struct callback_node {
        task call;
        callback_node* next;
    };
    using callback_ptr = std::unique_ptr<callback_node>;
    [[nodiscard]] static callback_ptr prepare(task callback);
    /// Calls the callback once it is final: on the completing thread, or here and now. Needs no memory.
    void on_done(callback_ptr callback);

protected:
    future_core() noexcept {}
    virtual ~future_core();

    /// For describe().
    [[nodiscard]] virtual const std::type_info& body_type() const noexcept = 0;
    /// It was cancelled before its body started: a timer queue lets go of it.
    virtual void leave_queue() noexcept {}

    /// Calls the body, destroys the callable and completes the future, each if nobody decided otherwise meanwhile.
    virtual void run_body(task_scope& scope) = 0;
    /// Calls the body and drops its result.
    virtual void run_body_and_forget() = 0;
    virtual void destroy_callable() noexcept = 0;

    /// For run_body(): the body has ended. Destroys the callable, then claims the outcome. True: the outcome may be written, then finish()
    /// it. False: it was decided otherwise meanwhile, and the result is to be dropped.
    [[nodiscard]] bool claim_after_run(task_scope& scope) noexcept;
    void fail_after_run(task_scope& scope, std::exception_ptr error);

    /// For set_value(): true if the outcome may be written. The callable is destroyed already, unless it runs.
    [[nodiscard]] bool claim_by_hand() noexcept;

    /// Ends the claim: publishes the outcome, wakes the waiters, calls the callbacks.
    /// \throws what a callback throws, after all were called.
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
    class host;  // of future_steps
    struct steps;
    void call_back();
    static callback_node* closed() noexcept;

    std::atomic<future_word> word_{};  // see future_word; its final store publishes the outcome
    std::atomic<callback_node*> callbacks_{nullptr};  // newest first; closed() once they were called
    const task_id id_ = next_task_id();               // also of the task that runs it
    std::atomic<const void*> start_{nullptr};         // who may start the body; pools are only ever compared
    std::atomic<std::uint32_t> handles_{1};
    std::atomic<std::uint32_t> references_{2};  // the handles together, and the right to run
    union {
        queue_links links_{};       // until there is an outcome
        std::exception_ptr error_;  // I1; lives once failed
    };
};

}  // namespace detail
}  // namespace spool::inline v1
