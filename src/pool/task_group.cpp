// How a group knows that all its children have ended.
//
// A child ends when its callable is destroyed. On the maker's own thread that is a plain count. On another thread it lowers remote_, and
// then the group may be gone: so that is the last touch. Only if the maker sleeps must it be woken, and then the change and the
// wake lie in one critical section; the maker looks inside one too, so when it sees that all have ended, the last has left.
#include "spool/pool/task_group.hpp"
#include "spool/base/pause_point.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "pool/deadlock_watch.hpp"
#include "pool/hot_path.hpp"
#include "pool/pool_core.hpp"
#include "pool/self_service.hpp"
#include "spool/base/error.hpp"
#include "spool/sync/spinning.hpp"
#include "spool/sync/this_task.hpp"

namespace spool::inline v1 {

constinit thread_local detail::group_frame* detail::group_frame::innermost_ = nullptr;

void detail::group_frame::fail() noexcept {
    std::fputs("spool::task_group: a group outlives the child of another group that it was made in\n",
               stderr);
    std::abort();
}

task_group::task_group(thread_pool_executor& pool) noexcept
    : pool_(pool),
      home_(&pool.use()),
      maker_(detail::group_frame::this_thread()),
      worker_(core::self_service::of(*static_cast<const core*>(home_))) {
    if (made_in_ != nullptr) {
        made_in_->add();
    }
}

void task_group::fork(task&& child) {
    const bool elsewhere = !made_here() && worker_ != nullptr;
    if (elsewhere) {
        remote_.fetch_add(2);  // keeps the group until its maker has been told
    }
    bool taken = false;
    try {
        core& pool = pool_.use();
        taken = &pool == home_ && pool.takes(child);
    } catch (...) {  // from the queue, which has not taken it
    }
    if (!taken) {
        if (!made_here()) {
            ran_elsewhere_.store(true);
        }
        // NOLINTNEXTLINE(bugprone-use-after-move): what was not taken is as it was
        child();  // where it was forked, then; it throws nothing
    }
    if (elsewhere) {
        forked_elsewhere_.fetch_add(1);  // before the next, which wakes a maker that sleeps
        one_less_elsewhere();
    }
}

void task_group::child_dropped_or_elsewhere(bool was_dropped) noexcept {
    if (was_dropped) {
        failed(std::make_exception_ptr(cancelled("task_group: the pool dropped a child that had not begun")));
    }
    if (made_here()) {
        ++ended_here_;
    } else {
        one_less_elsewhere();
    }
}

void task_group::one_less_elsewhere() noexcept {
    std::uint64_t seen = remote_.load();
    while ((seen & sleeping) == 0) {
        SPOOL_PAUSE_POINT("task_group: a child has ended elsewhere");
        if (remote_.compare_exchange_weak(seen, seen - 2)) {
            return;  // not ours any more
        }
    }
    const detail::lock_guard lock{mutex_};
    SPOOL_PAUSE_POINT("task_group: about to wake the maker");
    remote_.fetch_sub(2);
    ended_.notify_all();  // pair (M): mutex_
}

void task_group::failed(std::exception_ptr error) noexcept {
    {
        const detail::lock_guard lock{mutex_};
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
        const detail::lock_guard lock{mutex_};
        source = stop_;
    }
    source.request_stop();
}

std::stop_token task_group::token() {
    const detail::lock_guard lock{mutex_};
    if (!stop_.stop_possible()) {
        stop_ = std::stop_source{};
        if (cancelled_.load()) {
            stop_.request_stop();  // nobody has the token yet, so no callback runs here
        }
    }
    return stop_.get_token();
}

// In a forked child: the pool has another core, and whoever had the children is not there.
void task_group::forget_lost_children() noexcept {
    std::construct_at(&mutex_);  // one who is gone may have held it
    begun_ = ended_here_ = 0;
    remote_.store(0);
    cancelled_.store(true);
    const detail::lock_guard lock{mutex_};
    if (error_ == nullptr) {
        error_ = std::make_exception_ptr(
            cancelled("task_group: the children are those of the process that forked"));
    }
}

void task_group::join() {
    const std::uint64_t forks = forked_elsewhere_.load();  // before the look at the queue
    if (!run_queued()) {
        join_others(forks);
    }
}

[[gnu::noinline]] void task_group::join_others(std::uint64_t forks) {
    if (&pool_.use() != home_) {
        forget_lost_children();
    }
    if (!all_ended() && !help_until_all_ended()) {
        wait_for_others(forks);
    }
}

// What nobody has begun, if the maker is a worker. The newest of its own first: there they are, as a rule. True: all have ended.
[[gnu::always_inline]] inline bool task_group::run_queued() {
    auto* const self = static_cast<worker*>(worker_);
    if (self == nullptr) {
        return all_ended();
    }
    core& pool = pool_.use();
    const auto run_if_mine = [&](task& t) {
        const bool is_mine = is_parent_of(t);
        if (is_mine) [[likely]] {
            pool.run_child(*self, t);
        }
        return is_mine;
    };
    do {
        notice_stop();
        if (!pool.queue().use_own(run_if_mine) && !run_elsewhere()) {
            return all_ended();
        }
    } while (!all_ended());
    return true;
}

// Those that lie elsewhere in the queue. False: there are none.
bool task_group::run_elsewhere() {
    core& pool = pool_.use();
    std::vector<task> children;
    try {
        children = pool.queue().take_if([this](const task& t) { return is_parent_of(t); });
    } catch (const std::bad_alloc&) {  // then others will run them
    }
    for (task& child : children) {
        notice_stop();
        pool.run_child(*static_cast<worker*>(worker_), child);
    }
    return !children.empty();
}

// Others run the rest: what was forked inside of that may lie there for the taking. False: for a while there was nothing.
bool task_group::help_until_all_ended() {
    if (worker_ == nullptr) {
        return false;
    }
    const std::chrono::nanoseconds patience =
        spinning_can_help() ? spin_budget : std::chrono::nanoseconds::zero();
    for (;;) {
        for (spin_turns turns{patience}; !help();) {
            if (all_ended()) {
                return true;
            }
            if (!turns.next()) {
                return false;
            }
        }
    }
}

bool task_group::help() {
    auto& self = *static_cast<worker*>(worker_);
    core& pool = pool_.use();
    notice_stop();
    return pool.queue().use_other([&](task& t) {
        const bool is_awaited = is_ancestor_of(t);
        if (is_awaited) {
            pool.run_child(self, t);
        }
        return is_awaited;
    });
}

bool task_group::is_parent_of(const task& t) const noexcept {
    return t.owner() == this;
}

// It was taken out of the queue, so it has not ended; then neither has its group, nor the child which that was made in, and so on.
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

// The maker counts as sleeping until it has seen inside of the lock that all have ended, also while it runs what others have forked.
void task_group::wait_for_others(std::uint64_t forks_seen) {
    {
        const detail::lock_guard lock{mutex_};
        SPOOL_PAUSE_POINT("task_group: the maker is about to sleep");
        remote_.fetch_or(sleeping);
    }
    const auto ended = [this] {
        const detail::lock_guard lock{mutex_};
        return all_ended();
    };
    const auto others_forked = [&] { return worker_ != nullptr && forked_elsewhere_.load() != forks_seen; };
    std::stop_token stop;
    try {
        if (!interrupted_) {
            stop = this_task::stop_token();
        }
    } catch (const std::bad_alloc&) {  // it cannot be interrupted then
    }
    for (;;) {
        const auto sleep = [&](deadline limit) {
            return ended_.await(ended, {.until = limit, .stop = stop}, others_forked);
        };
        // A child that runs on a thread of which nothing is known may end at any time.
        const wait_result how =
            ran_elsewhere_.load()
                ? sleep(deadline::never())
                : core::deadlock_watch::wait(pool_.use(), core::blocked_wait::what::group, stop, sleep);
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
        static_cast<void>(run_queued());
    }
    const detail::lock_guard lock{mutex_};
    remote_.fetch_and(~sleeping);
}

// Makes a cancelled group as new, and throws what it was cancelled for.
void task_group::renew() {
    std::exception_ptr error;
    const bool was_interrupted = std::exchange(interrupted_, false);
    {
        const detail::lock_guard lock{mutex_};  // against a cancel() that comes from elsewhere
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

// NOLINTNEXTLINE(bugprone-exception-escape): it means an empty task that is called, and no child is one
void task_group::finish() noexcept {
    if (std::uncaught_exceptions() != 0) {
        cancel();
    }
    join();
    std::exception_ptr error;
    {
        const detail::lock_guard lock{mutex_};
        error = error_;
    }
    if (error != nullptr && std::uncaught_exceptions() == 0) {
        report_uncaught("a child of a task_group that nobody waited for", error);
    }
}

}  // namespace spool::inline v1
