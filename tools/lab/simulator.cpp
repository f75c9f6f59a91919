#include "simulator.hpp"

#include <algorithm>

#include "duration_text.hpp"
#include "simulated_pool.hpp"

namespace spool::lab {

run_record simulate(const scenario& what, std::shared_ptr<const std::vector<planned_task>> plan,
                    const simulation& how) {
    run_record record;
    record.what = what;
    record.plan = std::move(plan);
    record.outcomes.resize(record.plan->size());
    record.simulated = true;
    simulated_pool{record, how}.run();
    return record;
}

run_record simulate(const scenario& what, const simulation& how) {
    return simulate(what, std::make_shared<const std::vector<planned_task>>(make_plan(what)), how);
}

simulated_pool::simulated_pool(run_record& record, const simulation& how)
    : record_(record), plan_(*record.plan), now_set_(record.what.pool), computing_(how.cpus) {}

// ---- Time

nanoseconds simulated_pool::next_arrival() const {
    if (caller_busy_) {
        return never;
    }
    nanoseconds next = next_planned_ < plan_.size() ? plan_[next_planned_].arrival : never;
    if (!retries_.empty()) {
        next = std::min(next, retries_.top().first);
    }
    return next == never ? never : std::max(next, now_);
}

nanoseconds simulated_pool::next_event() const {
    const std::vector<change>& changes = record_.what.changes;
    const nanoseconds next_change = next_change_ < changes.size() ? changes[next_change_].at : never;
    const nanoseconds next_end = sleeping_.empty() ? never : sleeping_.top().first;
    return std::min({next_change, next_end, computing_.next_end(), next_time_out_, next_arrival()});
}

bool simulated_pool::over() const {
    return next_planned_ == plan_.size() && retries_.empty() && queue_.empty() && sleeping_.empty() &&
           computing_.empty();
}

void simulated_pool::pass_time_to(nanoseconds t) {
    for (; next_sample_ < t && next_sample_ <= sampled_until(record_.what); next_sample_ += sample_period) {
        record_.samples.push_back({next_sample_, static_cast<std::uint32_t>(workers_), active_,
                                   static_cast<std::uint32_t>(queue_.size())});
    }
    now_ = t;
}

void simulated_pool::run() {
    // After the last task the pool may still shrink, and settings may still change.
    while (!over() || next_event() <= record_.what.duration) {
        pass_time_to(next_event());
        const std::vector<change>& changes = record_.what.changes;
        if (next_change_ < changes.size() && changes[next_change_].at == now_) {
            change_settings(changes[next_change_++]);
        } else if (!sleeping_.empty() && sleeping_.top().first == now_) {
            const std::uint64_t ended = sleeping_.top().second;
            sleeping_.pop();
            end(ended);
        } else if (computing_.next_end() == now_) {
            end(computing_.pop());
        } else if (next_time_out_ == now_) {
            end_idlers();
        } else {
            arrive();
        }
    }
    pass_time_to(std::max(record_.length, record_.what.duration) + nanoseconds{1});
    record_.largest_pool = largest_;
}

// ---- Arrival of a task

void simulated_pool::arrive() {
    const bool again = !retries_.empty() && (next_planned_ == plan_.size() ||
                                             retries_.top().first <= plan_[next_planned_].arrival);
    task_index i = 0;
    if (again) {
        i = static_cast<task_index>(retries_.top().second);
        retries_.pop();
    } else {
        i = static_cast<task_index>(next_planned_++);
    }
    record_.outcomes[i].submitted = now_;
    if (!admit(i)) {
        refuse(i);
    }
}

// Mirrors thread_pool_executor::execute(). Returns true if the pool accepted the task.
bool simulated_pool::admit(task_index i) {
    if (admission::on_arrival(control(), sizes()) == admission::arrival::start_worker) {
        start_worker();
        begin(i, false);
        return true;
    }
    if (offer(i)) {
        if (admission::after_offer(control()) == admission::offered::start_worker) {
            start_worker();
            fetch();
        }
        return true;
    }
    if (admission::after_refusal(control(), sizes()) == admission::refused::start_worker) {
        start_worker();
        begin(i, false);
        return true;
    }
    return false;
}

bool simulated_pool::offer(task_index i) {
    if (!idle_.empty()) {
        if (now_set_.queue == queue_kind::synchronous) {
            idle_.pop_back();
        } else {
            idle_.pop_front();
        }
        begin(i, false);
        return true;
    }
    if (queue_.size() >= now_set_.capacity) {
        return false;
    }
    queue_.push_back(i);
    return true;
}

void simulated_pool::refuse(task_index i) {
    switch (now_set_.rejection) {
        case refusal::abort: {
            note_refusal(i);
            const retry_rule& retry = record_.what.classes[plan_[i].of_class].retry;
            if (record_.outcomes[i].refusals < retry.attempts) {
                retries_.emplace(now_ + retry.after, i);
            } else {
                lose(i);
            }
            return;
        }
        case refusal::discard:
            note_refusal(i);
            lose(i);
            return;
        case refusal::discard_oldest:
            while (!queue_.empty()) {
                const task_index oldest = queue_.front();
                queue_.pop_front();
                note_refusal(oldest);
                lose(oldest);
                if (admit(i)) {
                    return;
                }
            }
            note_refusal(i);
            lose(i);
            return;
        case refusal::caller_runs:
            note_refusal(i);
            caller_busy_ = true;
            begin(i, true);
            return;
    }
}

void simulated_pool::note_refusal(task_index i) {
    ++record_.outcomes[i].refusals;
    record_.refusal_times.push_back(now_);
}

void simulated_pool::lose(task_index i) {
    record_.outcomes[i].how = fate::refused;
}

// ---- Execution of tasks

void simulated_pool::begin(task_index i, bool in_caller) {
    const planned_task& task = plan_[i];
    record_.outcomes[i].start = now_;
    active_ += in_caller ? 0U : 1U;
    nanoseconds work = task.service;
    if (const double factor = service_factor(record_.what, task.of_class, now_); factor != 1) {
        work = scaled(work, factor);
    }
    const std::uint64_t packed = std::uint64_t{i} << 1U | (in_caller ? 1U : 0U);
    if (record_.what.classes[task.of_class].cpu) {
        computing_.add(now_, work, packed);
    } else {
        sleeping_.emplace(now_ + work, packed);
    }
}

void simulated_pool::end(std::uint64_t packed) {
    outcome& o = record_.outcomes[packed >> 1U];
    o.end = now_;
    o.how = fate::completed;
    record_.length = now_;
    if ((packed & 1U) != 0) {
        caller_busy_ = false;
    } else {
        --active_;
        fetch();
    }
}

// ---- Workers

// As the pool's fetch(): the worker leaves, runs a queued task, or waits.
void simulated_pool::fetch() {
    if (admission::may_leave(control(), sizes(), false, queue_.empty())) {
        leave();
    } else if (!queue_.empty()) {
        const task_index next = queue_.front();
        queue_.pop_front();
        begin(next, false);
    } else {
        wait(now_);
    }
}

void simulated_pool::leave() {
    --workers_;
    const std::size_t least = admission::least_workers(sizes(), queue_.empty());
    if (admission::may_start(control(), least, false, queue_.empty())) {
        ++workers_;  // the worker rejoins
        fetch();
    }
}

void simulated_pool::wait(nanoseconds since) {
    const bool limited =
        admission::waits_with_limit(control(), sizes()) && now_set_.keep_alive < never - since;
    const nanoseconds until = limited ? since + now_set_.keep_alive : never;
    idle_.push_back({since, until});
    next_time_out_ = std::min(next_time_out_, until);
}

// An idle worker whose keep-alive is over leaves if it may, else starts another keep-alive wait.
void simulated_pool::end_idlers() {
    std::deque<idler> all;
    all.swap(idle_);
    next_time_out_ = never;
    for (const idler& one : all) {
        if (one.until > now_) {
            idle_.push_back(one);
            next_time_out_ = std::min(next_time_out_, one.until);
        } else if (admission::may_leave(control(), sizes(), true, queue_.empty())) {
            leave();
        } else {
            wait(now_);
        }
    }
}

// Applies the settings. Every waiting worker re-checks them at once, and a raised core size starts
// workers for queued tasks.
void simulated_pool::change_settings(const change& c) {
    const std::size_t core_before = now_set_.core;
    now_set_.core = c.core.value_or(now_set_.core);
    now_set_.maximum = c.maximum.value_or(now_set_.maximum);
    now_set_.keep_alive = c.keep_alive.value_or(now_set_.keep_alive);
    now_set_.capacity = c.capacity.value_or(now_set_.capacity);
    std::deque<idler> all;
    all.swap(idle_);
    next_time_out_ = never;
    for (const idler& one : all) {
        if (admission::may_leave(control(), sizes(), false, queue_.empty())) {
            leave();
        } else {
            wait(one.until == never ? now_ : one.since);
        }
    }
    const std::size_t raised = now_set_.core > core_before ? now_set_.core - core_before : 0;
    for (std::size_t wanted = std::min(raised, queue_.size());
         wanted > 0 && !queue_.empty() &&
         admission::may_start(control(), now_set_.core, false, queue_.empty());
         --wanted) {
        start_worker();
        fetch();
    }
}

}  // namespace spool::lab
