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

std::string quoted(const std::string& name) {
    return "\"" + name + "\"";
}

}  // namespace

deadlock_finder::deadlock_finder(blocked_wait* first) {
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
        for (const watched_worker* at = w->worker; at != nullptr; at = at->outer) {
            pool_waits& waits = pools_[at->pool.id()];
            waits.pool = &at->pool;
            waits.of_workers.push_back(i);
        }
    }
    strike_out();
}

void deadlock_finder::strike_out() {
    for (bool changed = true; std::exchange(changed, false);) {
        for (std::size_t i = 0; i < waits_.size(); ++i) {
            if (stuck_[i] && !is_stuck(i)) {
                stuck_[i] = false;
                changed = true;
            }
        }
    }
}

bool deadlock_finder::is_stuck(std::size_t i) const {
    const blocked_wait& w = *waits_[i];
    if (w.stop->stop_requested() || !w.doom.empty()) {
        return false;
    }
    return w.kind == blocked_wait::what::futures
               ? !places_[i].empty() && std::all_of(places_[i].begin(), places_[i].end(),
                                                    [this](const place& at) { return is_stuck(at); })
               : is_stuck(w.pool->id());
}

bool deadlock_finder::is_stuck(const place& at) const {
    switch (at.where) {
        case future_link::whereabout::unknown: return false;
        case future_link::whereabout::queued: return is_stuck(at.pool);
        case future_link::whereabout::running: break;
    }
    const auto runner = runs_.find(at.scope);
    return runner != runs_.end() && stuck_[runner->second];
}

// Does not touch a pool without a wait in the list: it may be gone.
bool deadlock_finder::is_stuck(const void* pool) const {
    const auto found = pools_.find(pool);
    if (found == pools_.end()) {
        return false;
    }
    const indices& waits = found->second.of_workers;
    return std::all_of(waits.begin(), waits.end(), [this](std::size_t i) { return bool{stuck_[i]}; }) &&
           found->second.pool->cannot_progress(waits.size());
}

void deadlock_finder::add_causes(std::size_t i, std::vector<bool>& seen, indices& out) const {
    const auto add = [&](std::size_t cause) {
        if (!seen[cause]) {
            seen[cause] = true;
            out.push_back(cause);
        }
    };
    const auto add_pool = [&](const void* pool) {
        if (const auto found = pools_.find(pool); found != pools_.end()) {
            std::for_each(found->second.of_workers.begin(), found->second.of_workers.end(), add);
        }
    };
    const blocked_wait& w = *waits_[i];
    if (w.kind != blocked_wait::what::futures) {
        add_pool(w.pool->id());
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
auto deadlock_finder::closure(std::size_t i) const -> indices {
    std::vector<bool> seen(waits_.size(), false);
    indices all;
    add_causes(i, seen, all);
    for (std::size_t next = 0; next < all.size(); ++next) {
        add_causes(all[next], seen, all);
    }
    return all;
}

// The smallest closure: the cycle itself, without waits that only wait for the cycle.
auto deadlock_finder::innermost(indices of) const -> indices {
    indices smallest = of;
    for (std::size_t n = 0; n < std::min(of.size(), most_tries); ++n) {
        if (indices one = closure(of[n]); one.size() < smallest.size()) {
            smallest = std::move(one);
        }
    }
    return smallest;
}

auto deadlock_finder::find(std::size_t& last_number) -> std::vector<deadlock_finding> {
    std::vector<deadlock_finding> found;
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
bool deadlock_finder::is_still_so(const indices& cycle) const {
    return std::all_of(cycle.begin(), cycle.end(), [this](std::size_t i) {
        return std::equal(places_[i].begin(), places_[i].end(), waits_[i]->futures.begin(),
                          [](const place& at, const future_link& f) { return f.whereabouts() == at; });
    });
}

auto deadlock_finder::report_on(const indices& cycle, std::size_t number) -> deadlock_finding {
    deadlock_finding found{.number = number, .is_new = false};
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
    found.teller = waits_[youngest_first.front()]->worker->pool.keep();
    if (std::any_of(youngest_first.begin(), youngest_first.end(),
                    [&](std::size_t i) { return lend(i, found); })) {
        found.report.remedy = "an extra thread of pool " + quoted(found.lender->name()) + " helps";
        found.report.remedy += found.ready == future_link::readiness::due ? "" : " when the task is due";
        return found;
    }
    const auto thrower = std::find_if(youngest_first.begin(), youngest_first.end(), [this](std::size_t i) {
        return waits_[i]->kind != blocked_wait::what::group &&
               waits_[i]->worker->pool.policy().what() == deadlock_policy::remedy::throw_in_youngest;
    });
    if (thrower != youngest_first.end()) {
        blocked_wait& doomed = *waits_[*thrower];
        found.report.remedy = "worker " + doomed.worker->name + " throws out of its wait";
        doomed.doom = to_string(found.report);
        doomed.to_call = true;
    }
    return found;
}

// Whether a lent thread of the pool that is waited for would help, and that pool's policy lends.
bool deadlock_finder::lend(std::size_t i, deadlock_finding& found) const {
    const blocked_wait& wait = *waits_[i];
    const auto lends = [&](const void* pool, task_id wanted) {
        watched_pool& lender = *pools_.at(pool).pool;  // the pool of a stuck wait has waits
        if (lender.policy().what() != deadlock_policy::remedy::lend_thread) {
            return false;
        }
        found.lender = lender.keep();
        found.wanted = wanted;
        return true;
    };
    if (wait.kind == blocked_wait::what::room) {
        return lends(wait.pool->id(), 0);
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

deadlocked_worker deadlock_finder::describe(std::size_t i) const {
    const blocked_wait& wait = *waits_[i];
    const watched_worker& self = *wait.worker;
    deadlocked_worker one{.pool = self.pool.name(), .worker = self.name, .task = self.task.load()};
    switch (wait.kind) {
        case blocked_wait::what::group:
            one.why = "for the children of a task_group in pool " + quoted(wait.pool->name());
            break;
        case blocked_wait::what::room:
            one.why = "for room in the queue of pool " + quoted(wait.pool->name());
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

std::string deadlock_finder::describe(task_id future, const place& at) const {
    std::string text = "task " + std::to_string(future);
    if (const auto runner = runs_.find(at.scope); runner != runs_.end()) {
        return text + ", which worker " + waits_[runner->second]->worker->name + " runs";
    }
    if (const auto found = pools_.find(at.pool); found != pools_.end()) {
        return text + ", which is queued in pool " + quoted(found->second.pool->name()) + ", all of whose " +
               std::to_string(found->second.of_workers.size()) + " worker(s) wait";
    }
    return text;
}

}  // namespace spool::inline v1
