#include "pool/deadlock/deadlock_watch.hpp"

#include <algorithm>
#include <cstdio>
#include <new>
#include <utility>

#include "base/fork/fork_registry.hpp"
#include "pool/deadlock/deadlock_finder.hpp"
#include "pool/worker/worker_wait_context.hpp"
#include "pool/worker_path.hpp"
#include "spool/base/error.hpp"
#include "spool/detail/mutex.hpp"

namespace spool::inline v1 {

// Never destroyed. Reset in a forked child, where the threads that waited do not exist.
struct deadlock_watch::list {
    // However many workers wait, together they check no more often than this.
    static constexpr std::chrono::milliseconds least_between_checks{100};

    detail::mutex mutex;
    blocked_wait* first SPOOL_GUARDED_BY(mutex) = nullptr;
    blocked_wait* watcher SPOOL_GUARDED_BY(mutex) = nullptr;  // one of the waits in the list
    unsigned generation SPOOL_GUARDED_BY(mutex) = 0;          // number of forks so far
    std::size_t last_number SPOOL_GUARDED_BY(mutex) = 0;      // of a deadlock
    deadline::time_point next_check SPOOL_GUARDED_BY(mutex){};
    std::chrono::nanoseconds pause SPOOL_GUARDED_BY(mutex){between_checks};  // of the watcher

    static constinit list all;
    static const bool joins_forks;

    void add(blocked_wait& wait) {
        const detail::lock_guard lock{mutex};
        wait.born = generation;
        wait.next = first;
        if (first != nullptr) {
            first->link_here = &wait.next;
        }
        first = &wait;
        wait.link_here = &first;
        if (watcher == nullptr) {
            watcher = &wait;
        }
    }
    // Returns the call of the wait that becomes the watcher, if any. The caller must make the call,
    // without the lock.
    [[nodiscard]] std::stop_source remove(blocked_wait& wait) noexcept {
        const detail::lock_guard lock{mutex};
        if (wait.born != generation) {
            // A handler has forked, and this is the child: its list does not hold the wait.
            return std::stop_source{std::nostopstate};
        }
        *wait.link_here = wait.next;
        if (wait.next != nullptr) {
            wait.next->link_here = wait.link_here;
        }
        return watcher == &wait ? appoint(first) : std::stop_source{std::nostopstate};
    }
    // Appoints another watcher, as remove() does, but the wait stays in the list.
    [[nodiscard]] std::stop_source pass_on(const blocked_wait& wait) noexcept {
        const detail::lock_guard lock{mutex};
        blocked_wait* const other = wait.next != nullptr ? wait.next : first;
        return watcher == &wait && other != &wait ? appoint(other) : std::stop_source{std::nostopstate};
    }
    std::stop_source appoint(blocked_wait* next) noexcept SPOOL_REQUIRES(mutex) {
        watcher = next;
        return next != nullptr ? next->call : std::stop_source{std::nostopstate};
    }
    // The part of a wait in its next sleep, which `call` can end. (C)
    struct part {
        bool watches;
        std::chrono::nanoseconds pause;
        std::string doom;
    };
    part begin_sleep(blocked_wait& wait, const std::stop_source& call) {
        const detail::lock_guard lock{mutex};
        wait.call = call;
        return {watcher == &wait, pause, wait.doom};
    }
    // Returns the call of a wait whose doom was set and that was not called since. Needs no memory.
    [[nodiscard]] std::stop_source next_doomed() noexcept {
        const detail::lock_guard lock{mutex};
        for (blocked_wait* w = first; w != nullptr; w = w->next) {
            if (std::exchange(w->to_call, false) && w->call.stop_possible()) {
                return w->call;
            }
        }
        return std::stop_source{std::nostopstate};
    }
    bool may_check() {
        const deadline::time_point now = deadline::clock::now();
        const detail::lock_guard lock{mutex};
        if (now < next_check) {
            return false;
        }
        next_check = now + least_between_checks;
        return true;
    }
    std::vector<deadlock_finding> find() {
        const detail::lock_guard lock{mutex};
        const deadline::time_point begun = deadline::clock::now();
        std::vector<deadlock_finding> found = deadlock_finder{first}.find(last_number);
        pause = std::clamp<std::chrono::nanoseconds>(check_share * (deadline::clock::now() - begun),
                                                     between_checks, most_between_checks);
        return found;
    }
    // For waits that a lent thread helps, now or when its task is due. If the waits are still
    // stuck at the next check, or stuck again, the finder finds them once more. A wait that a
    // report has named is not reported again.
    void forget(std::size_t number) {
        const detail::lock_guard lock{mutex};
        for (blocked_wait* w = first; w != nullptr; w = w->next) {
            w->reported = w->reported == number ? 0 : w->reported;
        }
    }
    static void reset_in_child() noexcept {
        all.mutex.assert_held();
        all.first = nullptr;
        all.watcher = nullptr;
        ++all.generation;
    }
};

constinit deadlock_watch::list deadlock_watch::list::all{};
const bool deadlock_watch::list::joins_forks =
    detail::join_forks(detail::fork_order::deadlock_watch, {&all.mutex, reset_in_child});

wait_result deadlock_watch::wait(watched_pool& pool, blocked_wait::what kind, const std::stop_token& stop,
                                 sleeper sleep) {
    auto* const self = dynamic_cast<worker_wait_context*>(nested_waiter::current());
    if (self == nullptr) {
        return sleep({.stop = stop});
    }
    if (const wait_result how = sleep({.until = deadline::after(first_check), .stop = stop});
        how != wait_result::timed_out) {
        return how;
    }
    blocked_wait here{.worker = &self->watched(),
                      .scope = task_scope::current(),
                      .kind = kind,
                      .futures = {},
                      .pool = &pool,
                      .stop = &stop};
    return continue_wait(*self, here, sleep);
}

wait_result worker_wait_context::wait_for(std::span<const future_link> any, const std::stop_token& stop,
                                          sleeper sleep) {
    blocked_wait here{.worker = &watched_,
                      .scope = task_scope::current(),
                      .kind = blocked_wait::what::futures,
                      .futures = any,
                      .pool = nullptr,
                      .stop = &stop};
    return deadlock_watch::continue_wait(*this, here, sleep);
}

namespace {

// Without memory for a call, the wait looks at its part now and then, like a watcher.
std::stop_source call_or_none() noexcept {
    try {
        return std::stop_source{};
    } catch (const std::bad_alloc&) {
        return std::stop_source{std::nostopstate};
    }
}

}  // namespace

wait_result deadlock_watch::continue_wait(worker_wait_context& self, blocked_wait& wait, sleeper sleep) {
    struct entry {
        blocked_wait& wait;
        explicit entry(blocked_wait& w) : wait(w) { list::all.add(wait); }
        entry(const entry&) = delete;
        entry& operator=(const entry&) = delete;
        ~entry() { list::all.remove(wait).request_stop(); }
    };
    for (worker_wait_context* at = &self; at != nullptr; at = at->outer()) {
        at->pool().backlog.sample_capacity();
    }
    const entry in_list{wait};
    for (bool checks = true;;) {
        const bool keeps_tasks = self.give_away_all_kept();
        if (checks && list::all.may_check()) {
            check(&wait);
        }
        std::stop_source call = call_or_none();
        const list::part mine = list::all.begin_sleep(wait, call);
        if (!mine.doom.empty()) {
            throw deadlock(mine.doom);
        }
        const std::stop_callback pass_on{*wait.stop, [&call] { call.request_stop(); }};
        const bool can_be_called = call.stop_possible();
        checks = mine.watches || !can_be_called || keeps_tasks;
        const wait_result how = sleep({.until = checks ? deadline::after(mine.pause) : deadline::never(),
                                       .stop = can_be_called ? call.get_token() : *wait.stop});
        const bool called = how == wait_result::interrupted && !wait.stop->stop_requested();
        if (how != wait_result::timed_out && !called) {
            return how;
        }
        self.pool().backlog.sample_capacity();
    }
}

std::size_t deadlock_watch::check(blocked_wait* watcher) {
    std::vector<deadlock_finding> found;
    try {
        found = list::all.find();
    } catch (const std::bad_alloc&) {  // the next check may have the memory
    }
    if (watcher != nullptr && !found.empty()) {
        list::all.pass_on(*watcher).request_stop();  // a handler may block
    }
    std::size_t reported = 0;
    for (const deadlock_finding& one : found) {
        if (one.is_new) {
            one.teller->policy()(one.report);
            ++reported;
        }
        if (one.lender != nullptr && one.lender->lend_thread(one.wanted, one.ready)) {
            list::all.forget(one.number);
        }
    }
    // After the report, so that the report comes before the exception.
    for (std::stop_source doomed = list::all.next_doomed(); doomed.stop_possible();
         doomed = list::all.next_doomed()) {
        doomed.request_stop();
    }
    return reported;
}

// ---- The pool's half

bool detail::pool_watch::cannot_progress(std::size_t waiting) const noexcept {
    // While the queue takes every task, the pool does not grow past the core size.
    const admission::sizes sizes = pool_.settings.sizes();
    const bool queue_takes_all = sizes.queue_first || pool_.backlog.was_unbounded();
    const std::size_t growth_limit = queue_takes_all ? std::max<std::size_t>(sizes.core, 1) : sizes.maximum;
    const pool_control now = pool_.control.load();
    return runs_queue(now.state) && now.workers == waiting && !pool_.control.is_any_departing() &&
           now.workers >= growth_limit;
}

bool detail::pool_watch::lend_thread(task_id wanted, future_link::readiness ready) noexcept {
    try {
        if (ready == future_link::readiness::not_due ||
            (ready == future_link::readiness::unknown &&
             !pool_.backlog.contains_due(wanted, pool_.config.now()))) {
            return true;
        }
    } catch (...) {  // the lent thread asks the queue again, and reports what it throws
    }
    std::exception_ptr error;
    const start_result how = worker_path{pool_}.try_start(nullptr, start_bound::any, error, wanted);
    if (how != start_result::started && error != nullptr) {
        pool_.config.uncaught(pool_.config.pool_info, error);
    }
    return how == start_result::started;
}

std::shared_ptr<watched_pool> detail::pool_watch::keep() {
    return {pool_.shared_from_this(), this};
}

std::size_t deadlock_watch::waiting() {
    const detail::lock_guard lock{list::all.mutex};
    std::size_t n = 0;
    for (const blocked_wait* w = list::all.first; w != nullptr; w = w->next) {
        ++n;
    }
    return n;
}

std::string to_string(const deadlock_report& report) {
    std::string text = std::to_string(report.workers.size()) +
                       " worker(s) wait for each other, and nobody else can help them";
    text += report.remedy.empty() ? "" : "; " + report.remedy;
    for (const deadlocked_worker& w : report.workers) {
        text += "\n  worker " + w.worker + " of pool \"" + w.pool + "\", in task " + std::to_string(w.task) +
                ", waits " + w.why;
    }
    return text;
}

void deadlock_policy::operator()(const deadlock_report& report) const noexcept {
    try {
        if (handler_ != nullptr) {
            handler_(report);
            return;
        }
        const std::string text = "spool: deadlock: " + to_string(report) + "\n";
        std::fwrite(text.data(), 1, text.size(), stderr);
    } catch (...) {
        report_uncaught("the handler of a deadlock", std::current_exception());
    }
}

}  // namespace spool::inline v1
