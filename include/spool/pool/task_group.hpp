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
#include "spool/base/task.hpp"
#include "spool/detail/mutex.hpp"
#include "spool/detail/task_scope.hpp"
#include "spool/pool/detail/join_count.hpp"
#include "spool/pool/thread_pool_executor.hpp"

namespace spool::inline v1 {

class task_group;
struct worker;

namespace detail {

class claimable_child;
class group_access;
class group_guest;
class loop;

// The children that a group could still claim, oldest first; see src/pool/claimable_child.hpp.
// The group's lock guards the list.
class SPOOL_API child_list {
public:
    [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
    /// Also checks the next two children, round robin, and drops those that `pool` has not queued
    /// any more. So the list stays about as long as the queue.
    void append(claimable_child& child, const void* pool) noexcept;
    /// Returns null if the list is empty.
    claimable_child* pop_front() noexcept;
    /// In a forked child: another thread may have been in the middle of a change to the list.
    void forget_all() noexcept { first_ = last_ = looked_at_ = nullptr; }

private:
    void look_at_next(const void* pool) noexcept;

    claimable_child* first_ = nullptr;
    claimable_child* last_ = nullptr;
    // The child that was checked last. Null: the next check begins at the first child.
    claimable_child* looked_at_ = nullptr;
};

// One word: the child's group, whether the child was called, and whether it is still fresh, which
// means not forked.
class SPOOL_API group_link {
public:
    explicit group_link(task_group& group) noexcept
        : bits_(reinterpret_cast<std::uintptr_t>(&group) | fresh) {}
    group_link(group_link&& other) noexcept : bits_(std::exchange(other.bits_, 0)) {}
    group_link& operator=(group_link&&) = delete;
    /// The end of the child. The child's callable is destroyed by now.
    ~group_link() {
        if (bits_ != 0) {
            end();
        }
    }
    [[nodiscard]] SPOOL_UNWATCHED task_group& group() const noexcept {
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

// A child that runs on this thread. Counts the groups that are made inside of the child and must
// end before it.
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
    /// An id of the calling thread.
    [[nodiscard]] static const void* this_thread() noexcept { return static_cast<const void*>(&innermost_); }
    [[nodiscard]] const task_group* group() const noexcept { return &group_; }
    void add() noexcept { ++groups_; }
    void remove() noexcept { --groups_; }

private:
    [[noreturn]] static void fail() noexcept;
    static constinit thread_local group_frame* innermost_;

    task_group& group_;
    group_frame* const outer_;
    std::size_t groups_ = 0;  // made inside of this child, and not destroyed yet
};

// A child on its way through the pool. `link` is destroyed last. `made` marks the child as forked
// only when the whole object exists, since making `f` may throw.
template <class F>
struct group_child {
    struct complete {
        explicit complete(group_link& link) noexcept { link.set_forked(); }
    };
    group_link link;
    F f;
    [[no_unique_address]] complete made{link};
    void operator()();
};

template <class F>
struct task_traits<group_child<F>> : no_task_traits {
    static constexpr bool has_owner = true;
    static constexpr bool moves_as_bytes = std::is_trivially_copyable_v<F>;
    [[nodiscard]] SPOOL_UNWATCHED static const void* owner(const group_child<F>& f) noexcept {
        return &f.link.group();
    }
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
/// No child outlives wait() or the group, so children may refer to the stack of the thread that
/// forks them.
///
/// wait() runs the group's own children that no thread has begun, and never another task. So a pool
/// of one worker is enough, and a pool whose workers are busy. While other threads run the rest,
/// wait() also runs what was forked inside those children, by groups that were made there, if the
/// pool is a work-stealing one. A group that is made inside a child must end before the child does;
/// otherwise the process ends with a message.
///
/// A thread that is no worker of the pool is its guest, from its first run() until the group ends:
/// on a work-stealing pool it has a deque of its own, from which workers steal. Children that run
/// on a guest call no hooks and are not counted by the pool. What else the guest submits meanwhile
/// lies in its deque, too.
///
/// On a work-stealing pool a fork allocates nothing for a callable of up to 32 bytes. On other
/// kinds of pool a group allocates a small node for each child, so that wait() need not search the
/// queue; the queue may allocate too.
///
/// wait() throws the first exception of a child, when all children have ended; that exception also
/// cancels the group. In a cancelled group, children that have not begun never do, and running
/// children that take a std::stop_token are asked to stop. A stop of the task that waits cancels
/// the group too, and then wait() throws interrupted. wait() resets the group, which can be used
/// again.
///
/// A child that the pool refuses (shut down, full, no memory) runs at once, inside run().
/// shutdown_now() also requests stop on a running child that takes a token.
///
/// In a forked child process the children that had not ended belong to the parent: wait() throws
/// cancelled, and run() calls its callable at once.
///
/// Thread safety: any thread may call run() and cancel(), also from children. Only the thread that
/// made the group may call wait() and the destructor.
class SPOOL_API task_group {
public:
    explicit task_group(thread_pool_executor& pool) noexcept;
    task_group(const task_group&) = delete;
    task_group& operator=(const task_group&) = delete;
    /// Waits. Reports an exception that no wait() has thrown. If an exception thrown after the
    /// group was made leaves the group's scope, the destructor cancels the group first. Exceptions
    /// that were in flight before do not count.
    ~task_group() {
        if (!count_.all_ended() || cancelled_.load()) {
            finish();
            detail::receive(this);
        }
        if (!children_.empty()) {  // no other thread touches the list any more
            drop_list();
        }
        if (guest_ != nullptr) {
            end_visit();
        }
        if (made_in_ != nullptr) {
            made_in_->remove();
        }
    }

    /// Forks a child, which calls `f` as f() or f(std::stop_token) and drops the result.
    /// \throws std::invalid_argument if `f` is empty; std::bad_alloc, or what copying `f` throws.
    /// Then no child was forked.
    template <task_callable F>
    void run(F&& f) {
        if (detail::is_empty_callable(f)) {
            detail::throw_empty_callable("task_group::run");
        }
        announce();
        using child_type = detail::group_child<std::decay_t<F>>;
        fork(task{std::in_place_type<child_type>, detail::group_link{*this}, std::forward<F>(f)});
    }

    /// Joins: returns when every child has ended.
    /// \throws the first exception of a child; interrupted
    void wait() {
        if (!count_.all_ended()) {
            join();
        }
        detail::receive(this);
        if (cancelled_.load()) {
            renew();
        }
    }

    /// Children that have not begun never do. Running children that take a token are asked to stop.
    void cancel();
    [[nodiscard]] bool is_cancelled() const noexcept { return cancelled_.load(); }

private:
    template <class F>
    friend struct detail::group_child;

    friend class detail::group_link;
    friend class detail::loop;

    [[nodiscard]] bool made_here() const noexcept { return maker_ == detail::group_frame::this_thread(); }
    void announce() noexcept {
        if (made_here()) {
            count_.add_here();
        } else {
            count_.add_elsewhere();
        }
    }
    void fork(task&& child);
    void fork_elsewhere(task& child);
    bool offer(task& child);
    void run_at_once(task& child);
    void begin_visit() noexcept;
    void end_visit() noexcept;
    /// Maker: whether the children that it forks next are meant for other threads.
    void expose(bool exposes) noexcept;
    [[nodiscard]] bool may_run_children() const noexcept { return worker_ != nullptr || guest_ != nullptr; }
    [[nodiscard]] bool has_stack_room() const noexcept;
    bool fork_claimable(task& child);
    bool run_claimable();
    [[nodiscard]] detail::claimable_child* next_claimable() noexcept;
    void drop_list() noexcept;
    void join() noexcept;  // noexcept: a child must not outlive wait()
    void join_others(std::uint64_t forks_seen);
    void finish() noexcept;
    void renew();
    enum class search_depth : bool { own_store, whole_queue };
    bool run_queued(search_depth depth);
    bool run_elsewhere();
    template <class Run>
    bool search(const detail::group_access& pool, Run run);
    bool help();
    bool help_until_all_ended();
    [[nodiscard]] bool is_parent_of(const task& t) const noexcept;
    [[nodiscard]] bool is_ancestor_of(const task& child) const noexcept;
    void wait_for_others(std::uint64_t forks_seen);
    void forget_lost_children() noexcept;
    void notice_stop();
    void child_ended(bool was_dropped) noexcept {
        if (!was_dropped && made_here()) [[likely]] {
            count_.end_here();
        } else {
            detail::hand_over(this);  // this thread's last read of the group
            child_dropped_or_elsewhere(was_dropped);
        }
    }
    void child_dropped_or_elsewhere(bool was_dropped) noexcept;
    void failed(std::exception_ptr error) noexcept;
    [[nodiscard]] std::stop_token token();

    thread_pool_executor& pool_;
    const void* const pool_id_;  // the pool when the group was made; forked child: another
    const void* const maker_;    // id of the thread that made the group
    worker* const worker_;       // the maker as a worker of the pool, or null
    // Maker only: the maker as a guest of the pool, from its first fork on; null for a worker.
    detail::group_guest* guest_ = nullptr;
    // The child of another group that this group was made in, or null.
    detail::group_frame* const made_in_ = detail::group_frame::innermost();
    // Forks by other threads, if the maker is a worker: a change makes the maker search the queue
    // again.
    std::atomic<std::uint64_t> forked_elsewhere_{0};
    std::atomic<bool> cancelled_{false};
    // Another thread, which may be no worker, ran a child inside run().
    std::atomic<bool> ran_elsewhere_{false};
    bool interrupted_ = false;    // maker only
    bool search_failed_ = false;  // maker only: the queue threw during the last search
    // Exceptions in flight on the maker's thread when the group was made: the group may live in a
    // destructor during unwinding.
    const int exceptions_before_;
    detail::join_count count_;
    std::exception_ptr error_ SPOOL_GUARDED_BY(count_.guard);
    std::stop_source stop_ SPOOL_GUARDED_BY(count_.guard){std::nostopstate};
    detail::child_list children_ SPOOL_GUARDED_BY(count_.guard);
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
                // Stops with the group, and with the task that the child is or runs in.
                std::stop_source both;
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
