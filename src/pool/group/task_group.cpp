// Forks, joins and the end of a group. detail/join_count.hpp describes how a group knows that all
// its children have ended.
#include "spool/pool/task_group.hpp"
#include "spool/detail/pause_point.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "base/exceptions_in_flight.hpp"
#include "pool/group/group_access.hpp"
#include "spool/base/error.hpp"
#include "spool/sync/this_task.hpp"

namespace spool::inline v1 {
namespace {

using detail::group_access;

// How long a maker sleeps after the queue has thrown, before it searches again.
constexpr std::chrono::milliseconds search_again{10};

}  // namespace

constinit thread_local detail::group_frame* detail::group_frame::innermost_ = nullptr;

void detail::group_frame::fail() noexcept {
    std::fputs("spool::task_group: a group outlives the child of another group that it was made in\n",
               stderr);
    std::abort();
}

task_group::task_group(thread_pool_executor& pool) noexcept
    : pool_(pool),
      pool_id_(group_access{pool}.id()),
      maker_(detail::group_frame::this_thread()),
      worker_(group_access{pool}.self()),
      exceptions_before_(detail::exceptions_in_flight()) {
    if (made_in_ != nullptr) {
        made_in_->add();
    }
}

void task_group::fork(task&& child) {
    if (!made_here() && worker_ != nullptr) [[unlikely]] {
        fork_elsewhere(child);
    } else {
        if (!may_run_children() && made_here()) {
            begin_visit();
        }
        if (!offer(child)) [[unlikely]] {
            run_at_once(child);
        }
    }
}

[[gnu::noinline]] void task_group::begin_visit() noexcept {
    if (const group_access pool{pool_}; pool.id() == pool_id_) {
        guest_ = pool.enter();
    }
}

void task_group::expose(bool exposes) noexcept {
    if (!may_run_children()) {
        begin_visit();
    }
    if (const group_access pool{pool_}; pool.id() == pool_id_) {
        pool.expose_own(exposes);
    }
}

void task_group::end_visit() noexcept {
    const bool is_forked_child = group_access{pool_}.id() != pool_id_;
    is_forked_child ? guest_->forget() : guest_->leave();
}

inline bool task_group::has_stack_room() const noexcept {
    return worker_ != nullptr ? worker_->has_stack_room() : guest_->has_stack_room();
}

// run() by another thread, if the maker is a worker: the maker may have to run the child.
[[gnu::noinline]] void task_group::fork_elsewhere(task& child) {
    count_.add_elsewhere();  // keeps the group alive until its maker has been told
    if (!offer(child)) {
        run_at_once(child);
    }
    forked_elsewhere_.fetch_add(1);  // before the next, which wakes a maker that sleeps
    count_.end_elsewhere_and_wake();
}

// Returns false, and leaves `child` unchanged, if the pool refuses it.
inline bool task_group::offer(task& child) {
    try {
        const group_access pool{pool_};
        if (pool.id() != pool_id_) {
            return false;
        }
        const bool is_claimable =
            !pool.finds_children() && (worker_ != nullptr || (made_here() && guest_ != nullptr));
        return is_claimable ? fork_claimable(child) : pool.try_fork(child);
    } catch (...) {  // from the queue, which has not taken the child
        return false;
    }
}

// Runs the child inside run(). A child throws nothing.
[[gnu::noinline]] void task_group::run_at_once(task& child) {
    if (!made_here()) {
        ran_elsewhere_.store(true);
    }
    child();
}

void task_group::child_dropped_or_elsewhere(bool was_dropped) noexcept {
    if (was_dropped) {
        failed(std::make_exception_ptr(cancelled("task_group: the pool dropped a child that had not begun")));
    }
    if (made_here()) {
        count_.end_here();
    } else {
        count_.end_elsewhere();
    }
}

void task_group::failed(std::exception_ptr error) noexcept {
    {
        const detail::lock_guard lock{count_.guard};
        if (error_ == nullptr) {
            error_ = std::move(error);
        }
    }
    cancel();
}

void task_group::cancel() {
    cancelled_.store(true);
    std::stop_source source{std::nostopstate};
    {
        const detail::lock_guard lock{count_.guard};
        source = stop_;
    }
    detail::request_stop_of(source);
}

std::stop_token task_group::token() {
    const detail::lock_guard lock{count_.guard};
    if (!stop_.stop_possible()) {
        stop_ = std::stop_source{};
        if (cancelled_.load()) {
            stop_.request_stop();  // no thread has the token yet, so no callback runs here
        }
    }
    return stop_.get_token();
}

// In a forked child process: the pool has another core, and the threads that had the children do
// not exist.
void task_group::forget_lost_children() noexcept {
    count_.forget_all();
    cancelled_.store(true);
    const detail::lock_guard lock{count_.guard};
    children_.forget_all();
    if (error_ == nullptr) {
        error_ = std::make_exception_ptr(
            cancelled("task_group: the children are those of the process that forked"));
    }
}

void task_group::join() noexcept {
    const std::uint64_t forks = forked_elsewhere_.load();  // before the search of the queue
    if (!run_queued(search_depth::own_store)) {
        join_others(forks);
    }
}

// Searches the whole queue only after the spin: the search stops every deque.
[[gnu::noinline]] void task_group::join_others(std::uint64_t forks) {
    if (group_access{pool_}.id() != pool_id_) {
        forget_lost_children();
    }
    if (!count_.all_ended() && !help_until_all_ended() && !run_queued(search_depth::whole_queue)) {
        wait_for_others(forks);
    }
}

// Returns what `run` returns, or false if it threw: a user's queue threw, or there is no memory.
// Children may be left then that no other worker takes.
template <class Run>
[[gnu::always_inline]] inline bool task_group::search(const group_access& pool, Run run) {
    try {
        return run();
    } catch (...) {
        search_failed_ = true;
        pool.report_queue_failure();
        return false;
    }
}

// If the maker is a worker or a guest, runs the children that no thread has begun. Begins with the
// newest in the maker's own store, where they usually are. Returns true if all children have ended.
//
// A child of a queue with stores lies elsewhere only if another thread forked it, if another task
// lies above it, or if a thread that helps has moved it to its own store, where help() finds it.
[[gnu::always_inline]] inline bool task_group::run_queued(search_depth depth) {
    if (!may_run_children()) {
        return count_.all_ended();
    }
    const group_access pool{pool_};
    bool search_all =
        depth == search_depth::whole_queue || !pool.finds_children() || forked_elsewhere_.load() != 0;
    const auto is_child = [&](const task& t) {
        const bool is_mine = is_parent_of(t);
        search_all = search_all || !is_mine;
        return is_mine;
    };
    const auto run_own = [&] { return pool.run_own({worker_, guest_}, is_child); };
    do {
        notice_stop();
        // Without stack room the children are left to other workers.
        if (!has_stack_room() || (!search(pool, run_own) && !(search_all && run_elsewhere()))) {
            return count_.all_ended();
        }
    } while (!count_.all_ended());
    return true;
}

// Runs the children that lie elsewhere in the queue. Returns false if there are none.
bool task_group::run_elsewhere() {
    const group_access pool{pool_};
    if (!pool.finds_children()) {
        return run_claimable();
    }
    return search(pool, [this, &pool] {
        return pool.run_queued(
            {worker_, guest_}, [this](const task& t) { return is_parent_of(t); }, [this] { notice_stop(); });
    });
}

// While other workers run the rest, runs what the rest forks, if that lies in the workers' stores.
// Returns true if all children have ended, false if there was nothing to run for a while.
bool task_group::help_until_all_ended() {
    if (!may_run_children()) {
        return false;
    }
    const std::chrono::nanoseconds budget = group_access{pool_}.spin_time();
    for (;;) {
        for (spin_loop loop{budget}; !help();) {
            if (count_.all_ended()) {
                return true;
            }
            if (search_failed_ || !loop.next()) {
                return false;
            }
        }
    }
}

bool task_group::help() {
    const group_access pool{pool_};
    notice_stop();
    if (!pool.finds_children() || !has_stack_room()) {
        return false;
    }
    return search(pool, [this, &pool] {
        return pool.run_stolen({worker_, guest_}, [this](const task& t) { return is_ancestor_of(t); });
    });
}

bool task_group::is_parent_of(const task& t) const noexcept {
    return t.owner() == this;
}

// Walks from the child's group outwards. The child was in the queue, so it has not ended. Nor has
// its group, nor the child in which that group was made, and so on.
bool task_group::is_ancestor_of(const task& child) const noexcept {
    const auto* group = static_cast<const task_group*>(child.owner());
    while (group != nullptr && group != this) {
        group = group->made_in_ != nullptr ? group->made_in_->group() : nullptr;
    }
    return group != nullptr;
}

void task_group::notice_stop() {
    if (!interrupted_ && this_task::stop_requested()) {
        interrupted_ = true;
        cancel();
    }
}

// The maker counts as sleeping until it has seen inside of the lock that all children have ended,
// also while it runs children that other threads forked.
void task_group::wait_for_others(std::uint64_t forks_seen) {
    count_.begin_sleep();
    const auto ended = [this] { return count_.all_ended_in_sleep(); };
    const auto others_forked = [&] { return worker_ != nullptr && forked_elsewhere_.load() != forks_seen; };
    std::stop_token stop = interrupted_ ? std::stop_token{} : task_scope::current_token_or_none();
    for (;;) {
        const auto sleep = [&](const wait_limits& limits) {
            return count_.wakes.await(ended, limits, others_forked);
        };
        // A child that runs on a thread unknown to the deadlock watch may end at any time. After a
        // failed search the maker must search again: it may be the only worker.
        const wait_result how = std::exchange(search_failed_, false)
                                    ? sleep({.until = deadline::after(search_again), .stop = stop})
                                : ran_elsewhere_.load() ? sleep({.stop = stop})
                                                        : group_access{pool_}.wait(stop, sleep);
        if (how == wait_result::ready) {
            break;
        }
        if (how == wait_result::interrupted) {
            interrupted_ = true;
            cancel();
        }
        if (interrupted_) {
            stop = {};
        }
        forks_seen = forked_elsewhere_.load();
        static_cast<void>(run_queued(search_depth::whole_queue));
    }
    count_.end_sleep();
}

// Resets a cancelled group, and throws what the group was cancelled for.
void task_group::renew() {
    std::exception_ptr error;
    const bool was_interrupted = std::exchange(interrupted_, false);
    {
        const detail::lock_guard lock{count_.guard};  // against a concurrent cancel()
        error = std::exchange(error_, nullptr);
        cancelled_.store(false);
        stop_ = std::stop_source{std::nostopstate};
    }
    if (error != nullptr) {
        std::rethrow_exception(error);
    }
    if (was_interrupted) {
        throw interrupted("task_group::wait: stop requested; the children have ended");
    }
}

// NOLINTNEXTLINE(bugprone-exception-escape): only an empty task throws, and no child is one
void task_group::finish() noexcept {
    const bool left_by_exception = detail::exceptions_in_flight() > exceptions_before_;
    if (left_by_exception) {
        cancel();
    }
    join();
    std::exception_ptr error;
    {
        const detail::lock_guard lock{count_.guard};
        error = error_;
    }
    if (error != nullptr && !left_by_exception) {
        report_uncaught("a child of a task_group that nobody waited for", error);
    }
}

}  // namespace spool::inline v1
