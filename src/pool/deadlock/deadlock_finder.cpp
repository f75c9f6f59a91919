#include "pool/deadlock/deadlock_finder.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

namespace spool::inline v1 {
namespace {

// Returns false if the wait is for a future that is in no pool, so that any thread may complete it.
template <class Wait>
bool may_be_stuck(const Wait& w, std::span<const future_link::place> places) {
    return w.kind != Wait::what::futures ||
           std::none_of(places.begin(), places.end(), [](const future_link::place& at) {
               return at.where == future_link::whereabout::unknown;
           });
}

// How many waits are tried, at most, in search of the smallest cycle.
constexpr std::size_t most_tries = 64;

// How many workers the pool can have. While the queue takes every task, the pool does not grow past
// the core size.
std::size_t growth_limit(const detail::pool& pool) noexcept {
    const admission::sizes now = pool.settings.sizes();
    const bool queue_takes_all = now.queue_first || pool.backlog.was_unbounded();
    return queue_takes_all ? std::max<std::size_t>(now.core, 1) : now.maximum;
}

std::string quoted(const std::string& name) {
    return "\"" + name + "\"";
}

}  // namespace

deadlock_watch::finder::finder(blocked_wait* first) {
    bool any = false;
    for (blocked_wait* w = first; w != nullptr; w = w->next) {
        waits_.push_back(w);
        auto& places = places_.emplace_back();
        std::transform(w->futures.begin(), w->futures.end(), std::back_inserter(places),
                       [](const future_link& f) { return f.whereabouts(); });
        any = any || may_be_stuck(*w, places);
    }
    stuck_.assign(waits_.size(), any);
    if (!any) {
        return;  // the usual case for many waits: any thread may complete a future of each
    }
    runs_.reserve(waits_.size());
    for (std::size_t i = 0; i < waits_.size(); ++i) {
        const blocked_wait* const w = waits_[i];
        for (const task_scope* scope = w->scope; scope != nullptr; scope = scope->outer()) {
            runs_.emplace(scope, i);
        }
        for (const worker_wait_context* at = w->worker; at != nullptr; at = at->outer()) {
            of_pool_[&at->pool()].push_back(i);
        }
    }
    strike_out();
}

void deadlock_watch::finder::strike_out() {
    for (bool changed = true; std::exchange(changed, false);) {
        for (std::size_t i = 0; i < waits_.size(); ++i) {
            if (stuck_[i] && !is_stuck(i)) {
                stuck_[i] = false;
                changed = true;
            }
        }
    }
}

bool deadlock_watch::finder::is_stuck(std::size_t i) const {
    const blocked_wait& w = *waits_[i];
    if (w.stop->stop_requested() || !w.doom.empty()) {
        return false;
    }
    return w.kind == blocked_wait::what::futures
               ? !places_[i].empty() && std::all_of(places_[i].begin(), places_[i].end(),
                                                    [this](const place& at) { return is_stuck(at); })
               : is_stuck(w.pool);
}

bool deadlock_watch::finder::is_stuck(const place& at) const {
    switch (at.where) {
        case future_link::whereabout::unknown: return false;
        case future_link::whereabout::queued: return is_stuck(at.pool);
        case future_link::whereabout::running: break;
    }
    const auto runner = runs_.find(at.scope);
    return runner != runs_.end() && stuck_[runner->second];
}

// Does not touch a pool without a wait in the list: it may be gone.
bool deadlock_watch::finder::is_stuck(const void* pool) const {
    const auto waits = of_pool_.find(pool);
    if (waits == of_pool_.end() || !std::all_of(waits->second.begin(), waits->second.end(),
                                                [this](std::size_t i) { return bool{stuck_[i]}; })) {
        return false;
    }
    const detail::pool& q = *static_cast<const detail::pool*>(pool);
    const pool_control now = q.control.load();
    return runs_queue(now.state) && now.workers == waits->second.size() && !q.control.is_any_departing() &&
           now.workers >= growth_limit(q);
}

void deadlock_watch::finder::add_causes(std::size_t i, std::vector<bool>& seen, indices& out) const {
    const auto add = [&](std::size_t cause) {
        if (!seen[cause]) {
            seen[cause] = true;
            out.push_back(cause);
        }
    };
    const auto add_pool = [&](const void* pool) {
        const auto waits = of_pool_.find(pool);
        if (waits != of_pool_.end()) {
            std::for_each(waits->second.begin(), waits->second.end(), add);
        }
    };
    const blocked_wait& w = *waits_[i];
    if (w.kind != blocked_wait::what::futures) {
        add_pool(w.pool);
    }
    for (const place& at : places_[i]) {
        if (const auto runner = runs_.find(at.scope); runner != runs_.end()) {
            add(runner->second);
        } else {
            add_pool(at.pool);
        }
    }
}

// All waits that must end before this one can.
auto deadlock_watch::finder::closure(std::size_t i) const -> indices {
    std::vector<bool> seen(waits_.size(), false);
    indices all;
    add_causes(i, seen, all);
    for (std::size_t next = 0; next < all.size(); ++next) {
        add_causes(all[next], seen, all);
    }
    return all;
}

// The smallest closure: the cycle itself, without waits that only wait for the cycle.
auto deadlock_watch::finder::innermost(indices of) const -> indices {
    indices smallest = of;
    for (std::size_t n = 0; n < std::min(of.size(), most_tries); ++n) {
        if (indices one = closure(of[n]); one.size() < smallest.size()) {
            smallest = std::move(one);
        }
    }
    return smallest;
}

auto deadlock_watch::finder::find(std::size_t& last_number) -> std::vector<finding> {
    std::vector<finding> found;
    for (std::size_t i = 0; i < waits_.size(); ++i) {
        if (!stuck_[i] || waits_[i]->reported != 0) {
            continue;
        }
        const indices cycle = innermost(closure(i));
        const auto known = std::find_if(cycle.begin(), cycle.end(),
                                        [this](std::size_t at) { return waits_[at]->reported != 0; });
        if (known != cycle.end()) {
            waits_[i]->reported = waits_[*known]->reported;  // it only waits for a reported cycle
            continue;
        }
        if (!is_still_so(cycle)) {
            continue;  // the next check decides
        }
        found.push_back(report_on(cycle, ++last_number));
        waits_[i]->reported = last_number;
    }
    return found;
}

// Checks again where the futures are: a worker that was in no wait may have taken a task, and left
// before the finder looked at its pool.
bool deadlock_watch::finder::is_still_so(const indices& cycle) const {
    return std::all_of(cycle.begin(), cycle.end(), [this](std::size_t i) {
        return std::equal(places_[i].begin(), places_[i].end(), waits_[i]->futures.begin(),
                          [](const place& at, const future_link& f) { return f.whereabouts() == at; });
    });
}

auto deadlock_watch::finder::report_on(const indices& cycle, std::size_t number) -> finding {
    finding found{.number = number, .is_new = false};
    for (const std::size_t i : cycle) {
        found.report.workers.push_back(describe(i));
        waits_[i]->reported = number;
    }
    for (const std::size_t i : cycle) {
        found.is_new = !std::exchange(waits_[i]->told, true) || found.is_new;
    }
    indices youngest_first = cycle;
    std::sort(youngest_first.begin(), youngest_first.end(),
              [this](std::size_t a, std::size_t b) { return waits_[a]->since > waits_[b]->since; });
    found.teller = waits_[youngest_first.front()]->worker->pool().shared_from_this();
    if (std::any_of(youngest_first.begin(), youngest_first.end(),
                    [&](std::size_t i) { return lend(i, found); })) {
        found.report.remedy = "an extra thread of pool " + quoted(found.lender->config.name) + " helps";
        found.report.remedy += found.ready == future_link::readiness::due ? "" : " when the task is due";
        return found;
    }
    const auto thrower = std::find_if(youngest_first.begin(), youngest_first.end(), [this](std::size_t i) {
        return waits_[i]->kind != blocked_wait::what::group &&
               waits_[i]->worker->pool().config.on_deadlock.what() ==
                   deadlock_policy::remedy::throw_in_youngest;
    });
    if (thrower != youngest_first.end()) {
        blocked_wait& doomed = *waits_[*thrower];
        found.report.remedy = "worker " + doomed.worker->self().info.name + " throws out of its wait";
        doomed.doom = to_string(found.report);
        doomed.to_call = true;
    }
    return found;
}

// Whether an extra thread of the pool that is waited for would help, and that pool's policy lends.
bool deadlock_watch::finder::lend(std::size_t i, finding& found) const {
    const blocked_wait& wait = *waits_[i];
    const auto lends = [&found](const void* pool, task_id wanted) {
        detail::pool& q = *static_cast<detail::pool*>(const_cast<void*>(pool));
        if (q.config.on_deadlock.what() != deadlock_policy::remedy::lend_thread) {
            return false;
        }
        found.lender = q.shared_from_this();
        found.wanted = wanted;
        return true;
    };
    if (wait.kind == blocked_wait::what::room) {
        return lends(wait.pool, 0);
    }
    for (std::size_t n = 0; n < places_[i].size(); ++n) {
        const place& at = places_[i][n];
        if (at.where == future_link::whereabout::queued && lends(at.pool, wait.futures[n].id())) {
            found.ready = at.ready;
            return true;
        }
    }
    return false;
}

deadlocked_worker deadlock_watch::finder::describe(std::size_t i) const {
    const blocked_wait& wait = *waits_[i];
    const worker& self = wait.worker->self();
    deadlocked_worker one{
        .pool = wait.worker->pool().config.name, .worker = self.info.name, .task = self.current.load()};
    switch (wait.kind) {
        case blocked_wait::what::group:
            one.why = "for the children of a task_group in pool " + quoted(wait.pool->config.name);
            break;
        case blocked_wait::what::room:
            one.why = "for room in the queue of pool " + quoted(wait.pool->config.name);
            break;
        case blocked_wait::what::futures:
            if (wait.futures.size() == 1) {
                one.waits_for = wait.futures.front().id();
            }
            for (std::size_t n = 0; n < places_[i].size(); ++n) {
                one.why += (n == 0 ? "for " : " or ") + describe(wait.futures[n].id(), places_[i][n]);
            }
            break;
    }
    return one;
}

std::string deadlock_watch::finder::describe(task_id future, const place& at) const {
    std::string text = "task " + std::to_string(future);
    if (const auto runner = runs_.find(at.scope); runner != runs_.end()) {
        return text + ", which worker " + waits_[runner->second]->worker->self().info.name + " runs";
    }
    if (const auto pool = of_pool_.find(at.pool); pool != of_pool_.end()) {
        return text + ", which is queued in pool " +
               quoted(static_cast<const detail::pool*>(at.pool)->config.name) + ", all of whose " +
               std::to_string(pool->second.size()) + " worker(s) wait";
    }
    return text;
}

}  // namespace spool::inline v1
