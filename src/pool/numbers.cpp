// A pool's numbers, for programs and for people.
#include <algorithm>
#include <utility>

#include "pool/pool_core.hpp"
#include "spool/base/error.hpp"

namespace spool::inline v1 {
namespace {

std::string seconds(std::chrono::nanoseconds d) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
    std::string fraction = std::to_string(ms % 1000);
    fraction.insert(0, 3 - fraction.size(), '0');
    return std::to_string(ms / 1000) + "." + fraction + " s";
}

// `counted`: whether to add the numbers that only the workers know.
std::string text_of(const pool_snapshot& s, bool counted) {
    std::string text = "state ";
    text += to_string(s.state);
    text += ", workers " + std::to_string(s.pool_size) + " of " + std::to_string(s.maximum_size);
    text += " (core " + std::to_string(s.core_size) + ")";
    text += counted ? ", active " + std::to_string(s.active) : "";
    text += ", queued " + std::to_string(s.queued);
    if (s.queue_capacity != blocking_queue<task>::unlimited) {
        text += " of " + std::to_string(s.queue_capacity);
    }
    text += counted ? ", completed " + std::to_string(s.completed) : "";
    text += ", rejected " + std::to_string(s.rejected);
    return text;
}

}  // namespace

pool_snapshot thread_pool_executor::core::uncounted_snapshot() const {
    pool_snapshot s;
    s.name = name_;
    s.core_size = core_size_.load();
    s.maximum_size = maximum_size_.load();
    s.keep_alive = keep_alive();
    s.queue_capacity = backlog_.queue().capacity();
    s.rejected = rejected_.load();
    return s;
}

// A rejection must stay cheap however many workers there are: above 32, its message leaves out the
// numbers for which all workers must be visited.
std::string thread_pool_executor::core::rejection_numbers() const {
    constexpr std::size_t few = 32;
    const pool_control now = control();
    if (now.workers <= few) {
        return to_string(snapshot());
    }
    pool_snapshot s = uncounted_snapshot();
    s.state = now.state;
    s.pool_size = now.workers;
    s.queued = backlog_.size();
    return text_of(s, false);
}

pool_snapshot thread_pool_executor::core::snapshot() const {
    pool_snapshot s = uncounted_snapshot();
    // A task that is dequeued between the two counts would be counted twice or not at all: then
    // count again. Under a load that never lets two counts agree, the last one has to do.
    std::uint64_t started = count_workers(s);
    for (int tries = 0; tries < 32; ++tries) {
        s.queued = backlog_.size();
        const std::uint64_t before = std::exchange(started, count_workers(s));
        if (before == started) {
            break;
        }
    }
    s.tasks = started + s.queued;
    return s;
}

// Fills in what the workers know. Returns how many tasks they have ever begun.
std::uint64_t thread_pool_executor::core::count_workers(pool_snapshot& s) const {
    const detail::lock_guard lock{workers_mutex_};
    const pool_control c = control();
    s.state = c.state;
    s.pool_size = c.workers;
    s.largest_pool_size = largest_;
    s.active = 0;
    s.completed = completed_by_left_;
    std::uint64_t started = completed_by_left_;
    for (const std::shared_ptr<worker>& w : workers_) {
        s.active += w->depth.load() != 0 ? 1 : 0;
        s.completed += w->completed.load();
        started += w->started.load();
    }
    return started;
}

std::string to_string(const pool_snapshot& s) {
    return text_of(s, true);
}

std::string thread_pool_executor::core::describe() const {
    std::string text = "thread_pool_executor \"" + name_ + "\": " + to_string(snapshot());
    if (start_failed_.load() && control().workers == 0) {
        text += "\n  no thread can be started";
        if (const std::exception_ptr error = last_start_error(); error != nullptr) {
            text += ": " + spool::describe(error);
        }
    }
    const auto now = std::chrono::steady_clock::now();
    const detail::lock_guard lock{workers_mutex_};
    for (const std::shared_ptr<worker>& w : workers_) {
        text += "\n  " + w->info.name + ": ";
        if (w->stage == worker_stage::starting || w->depth.load() == 0) {
            text += w->stage == worker_stage::starting ? "starting" : "idle";
            continue;
        }
        const std::uint64_t number = w->started.load();
        if (w->seen_number != number) {
            w->seen_number = number;
            w->seen_at = now;
        }
        text += "runs task " + std::to_string(w->current.load());
        // Zero: the body has not begun, or has ended.
        const std::chrono::nanoseconds began{w->started_at.load()};
        if (task_times_ && began.count() != 0) {
            text += " for " + seconds(now.time_since_epoch() - began);
        } else if (w->seen_at == now) {
            text += ", seen for the first time";
        } else {
            text += " for at least " + seconds(now - w->seen_at);
        }
        if (w->asked_to_stop) {
            text += ", asked to stop";
        }
    }
    return text;
}

std::string_view to_string(run_state s) noexcept {
    switch (s) {
        case run_state::running: return "running";
        case run_state::shutting_down: return "shutting down";
        case run_state::stopping: return "stopping";
        case run_state::tidying: return "tidying";
        case run_state::terminated: return "terminated";
    }
    return "unknown";
}

}  // namespace spool::inline v1
