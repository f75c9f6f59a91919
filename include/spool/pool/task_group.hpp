// task_group: fork and join on a pool, without futures.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "spool/base/callable.hpp"
#include "spool/base/export.hpp"
#include "spool/base/mutex.hpp"
#include "spool/base/task.hpp"
#include "spool/base/task_scope.hpp"
#include "spool/pool/thread_pool_executor.hpp"
#include "spool/sync/event_count.hpp"

namespace spool::inline v1 {

class task_group;

namespace detail {

// Whose child it is, whether it was called, and whether it has not even been forked: one word.
class SPOOL_API group_link {
public:
    explicit group_link(task_group& group) noexcept
        : bits_(reinterpret_cast<std::uintptr_t>(&group) | fresh) {}
    group_link(group_link&& other) noexcept : bits_(std::exchange(other.bits_, 0)) {}
    group_link& operator=(group_link&&) = delete;
    /// The child's end: whatever it held is gone by now.
    ~group_link() {
        if (bits_ != 0) {
            end();
        }
    }
    [[nodiscard]] task_group& group() const noexcept {
        return *reinterpret_cast<task_group*>(bits_ & ~(called | fresh));
    }
    void set_forked() noexcept { bits_ &= ~fresh; }
    void set_called() noexcept { bits_ |= called; }

private:
    static constexpr std::uintptr_t called = 1;
    static constexpr std::uintptr_t fresh = 2;
    void end() noexcept;
    std::uintptr_t bits_;
};

// A child that runs on this thread: for the groups that are made inside of it. They end before it does.
class SPOOL_API group_frame {
public:
    explicit group_frame(task_group& group) noexcept : group_(group), outer_(innermost_) {
        innermost_ = this;
    }
    group_frame(const group_frame&) = delete;
    group_frame& operator=(const group_frame&) = delete;
    ~group_frame() {
        innermost_ = outer_;
        if (groups_ != 0) {
            fail();
        }
    }
    [[nodiscard]] static group_frame* innermost() noexcept { return innermost_; }
    /// Names the calling thread.
    [[nodiscard]] static const void* this_thread() noexcept { return static_cast<const void*>(&innermost_); }
    [[nodiscard]] const task_group* group() const noexcept { return &group_; }
    void add() noexcept { ++groups_; }
    void remove() noexcept { --groups_; }

private:
    [[noreturn]] static void fail() noexcept;
    static constinit thread_local group_frame* innermost_;

    task_group& group_;
    group_frame* const outer_;
    std::size_t groups_ = 0;  // made inside, and not destroyed yet
};

// A child on its way through the pool. The link is destroyed last. It says that it was forked when all of it is there: making `f` may throw.
template <class F>
struct group_child {
    struct complete {
        explicit complete(group_link& link) noexcept { link.set_forked(); }
    };
    static constexpr bool moves_as_bytes = std::is_trivially_copyable_v<F>;
    group_link link;
    F f;
    [[no_unique_address]] complete made{link};
    void operator()();
    [[nodiscard]] const void* owner() const noexcept { return &link.group(); }
};

}  // namespace detail

/// Runs children on a pool and waits for all of them.
///
///     long fib(spool::thread_pool_executor& pool, int n) {
///         if (n < 2) { return n; }
///         long a = 0;
///         spool::task_group children{pool};
///         children.run([&] { a = fib(pool, n - 1); });
///         const long b = fib(pool, n - 2);
///         children.wait();
///         return a + b;
///     }
///
/// No child outlives wait(), nor the group: what they refer to on the stack of whoever forks stays there. wait() runs children that nobody has
/// begun right here, those of this group only, and so a pool of one worker is enough. While others still run some, it helps with what was
/// forked inside of those, by groups that were made there; it is waited for anyhow. A group made inside of a child ends before the child
/// does; the process ends with a message if it does not.
/// A fork allocates nothing for a callable of up to 32 bytes. It is at its best on a work-stealing pool.
///
/// The first exception of a child comes out of wait(), when all have ended; it also cancels the group. Cancelled, children that have not begun
/// never do, and those that take a std::stop_token are asked to stop. A stop of the task that waits cancels the group too, and
/// then wait() throws interrupted. After wait() the group is as new.
///
/// A child that the pool does not take (shut down, full, no memory) runs at once in the one who forks it. One that takes a token is also
/// asked to stop by shutdown_now().
///
/// In a forked child those that had not ended are the parent's: wait() throws cancelled, and what is forked there runs at once.
///
/// Thread safety: run() and cancel() from any thread, also from children; wait() and the destructor by the thread that made the group.
class SPOOL_API task_group {
public:
    explicit task_group(thread_pool_executor& pool) noexcept;
    task_group(const task_group&) = delete;
    task_group& operator=(const task_group&) = delete;
    /// Waits. An exception that nobody has waited for is reported; left by an exception, the group is cancelled first.
    ~task_group() {
        if (!all_ended() || cancelled_.load()) {
            finish();
        }
        if (made_in_ != nullptr) {
            made_in_->remove();
        }
    }

    /// Forks. `f` is called as f() or f(std::stop_token); what it returns is dropped.
    /// \throws std::invalid_argument if `f` is empty; std::bad_alloc, or what copying `f` throws: then it was not forked
    template <task_callable F>
    void run(F&& f) {
        if (detail::is_empty_callable(f)) {
            detail::throw_empty_callable("task_group::run");
        }
        announce();
        using child_type = detail::group_child<std::decay_t<F>>;
        fork(task{std::in_place_type<child_type>, detail::group_link{*this}, std::forward<F>(f)});
    }

    /// Joins: returns when every child has ended. \throws the first exception of a child; interrupted
    void wait() {
        if (!all_ended()) {
            join();
        }
        if (cancelled_.load()) {
            renew();
        }
    }

    /// Children that have not begun never do; those that run and take a token are asked to stop.
    void cancel();
    [[nodiscard]] bool is_cancelled() const noexcept { return cancelled_.load(); }

private:
    using core = thread_pool_executor::core;
    template <class F>
    friend struct detail::group_child;

    friend class detail::group_link;

    [[nodiscard]] bool made_here() const noexcept { return maker_ == detail::group_frame::this_thread(); }
    void announce() noexcept {
        if (made_here()) {
            ++begun_;
        } else {
            remote_.fetch_add(2);
        }
    }
    void fork(task&& child);
    void join();
    void join_others(std::uint64_t forks_seen);
    void finish() noexcept;
    void renew();
    bool run_queued();
    bool run_elsewhere();
    bool help();
    bool help_until_all_ended();
    [[nodiscard]] bool is_parent_of(const task& t) const noexcept;
    [[nodiscard]] bool is_ancestor_of(const task& child) const noexcept;
    void wait_for_others(std::uint64_t forks_seen);
    void forget_lost_children() noexcept;
    void notice_stop();
    [[nodiscard]] bool all_ended() const noexcept {
        return 2 * (begun_ - ended_here_) + (remote_.load() & ~sleeping) == 0;
    }
    void child_ended(bool was_dropped) noexcept {
        if (!was_dropped && made_here()) [[likely]] {
            ++ended_here_;
        } else {
            child_dropped_or_elsewhere(was_dropped);
        }
    }
    void child_dropped_or_elsewhere(bool was_dropped) noexcept;
    void one_less_elsewhere() noexcept;
    void failed(std::exception_ptr error) noexcept;
    [[nodiscard]] std::stop_token token();

    static constexpr std::uint64_t sleeping = 1;

    thread_pool_executor& pool_;
    const void* const home_;   // what the pool was when the group was made: in a forked child it is another
    const void* const maker_;  // names the thread
    void* const worker_;       // of the pool, if the thread is one
    detail::group_frame* const made_in_ = detail::group_frame::innermost();  // null: in no child of a group
    // The maker's own: children that it forked, and those of them that ended on its thread.
    std::uint64_t begun_ = 0;
    std::uint64_t ended_here_ = 0;
    // On other threads: children forked there minus children ended there, times two and modulo 2^64; and whether the maker sleeps.
    std::atomic<std::uint64_t> remote_{0};
    // How many children others have put into the queue: a maker that is a worker looks there again.
    std::atomic<std::uint64_t> forked_elsewhere_{0};
    std::atomic<bool> cancelled_{false};
    std::atomic<bool> ran_elsewhere_{
        false};                 // a child was run at once by another thread, which may be no worker
    bool interrupted_ = false;  // maker only
    detail::mutex mutex_;       // guards the next two, and every change of remote_ while the maker sleeps
    std::exception_ptr error_ SPOOL_GUARDED_BY(mutex_);
    std::stop_source stop_ SPOOL_GUARDED_BY(mutex_){std::nostopstate};
    event_count ended_;
};

namespace detail {

inline void group_link::end() noexcept {
    static_assert(alignof(task_group) > (called | fresh));
    group().child_ended((bits_ & (called | fresh)) == 0);
}

template <class F>
void group_child<F>::operator()() {
    task_group& mine = link.group();
    link.set_called();
    const group_frame frame{mine};
    if (!mine.is_cancelled()) {
        try {
            if constexpr (stoppable_callable<F>) {
                std::stop_source both;  // the group's stop, and that of the task which this is, or is run in
                const auto ask = [&both] { both.request_stop(); };
                const std::stop_callback with_group{mine.token(), ask};
                const std::stop_callback with_task{task_scope::current_token(), ask};
                static_cast<void>(std::invoke(f, both.get_token()));
            } else {
                static_cast<void>(std::invoke(f));
            }
        } catch (...) {
            mine.failed(std::current_exception());
        }
    }
}

}  // namespace detail
}  // namespace spool::inline v1
