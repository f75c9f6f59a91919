// A pool's numbers, for programs and for people.
#include <algorithm>
#include <utility>

#include "pool/pool_core.hpp"
#include "spool/base/error.hpp"

namespace spool::inline v1 {
namespace {

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
    std::uint64_t started = roster_.count(s);
    for (int tries = 0; tries < 32; ++tries) {
        s.queued = backlog_.size();
        const std::uint64_t before = std::exchange(started, roster_.count(s));
        if (before == started) {
            break;
        }
    }
    s.tasks = started + s.queued;
    return s;
}

std::string to_string(const pool_snapshot& s) {
    return text_of(s, true);
}

std::string thread_pool_executor::core::describe() const {
    std::string text = "thread_pool_executor \"" + name_ + "\": " + to_string(snapshot());
    if (roster_.has_start_failed() && control().workers == 0) {
        text += "\n  no thread can be started";
        if (const std::exception_ptr error = roster_.last_start_error(); error != nullptr) {
            text += ": " + spool::describe(error);
        }
    }
    roster_.describe(text, task_times_);
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
