// A pool's numbers, for programs and for people.
#include <algorithm>
#include <utility>

#include "pool/pool.hpp"
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

pool_snapshot uncounted_snapshot(const detail::pool& p) {
    pool_snapshot s;
    s.name = p.config.name;
    s.core_size = p.settings.core_size();
    s.maximum_size = p.settings.maximum_size();
    s.keep_alive = p.settings.keep_alive();
    s.queue_capacity = p.backlog.queue().capacity();
    s.rejected = p.rejections.total();
    return s;
}

}  // namespace

// A rejection must stay cheap however many workers there are: above 32, its message leaves out the
// numbers for which all workers must be visited.
std::string detail::rejection_numbers(const pool& p) {
    constexpr std::size_t few = 32;
    const pool_control now = p.control.load();
    if (now.workers <= few) {
        return to_string(snapshot_of(p));
    }
    pool_snapshot s = uncounted_snapshot(p);
    s.state = now.state;
    s.pool_size = now.workers;
    s.queued = p.backlog.size();
    return text_of(s, false);
}

pool_snapshot detail::snapshot_of(const pool& p) {
    pool_snapshot s = uncounted_snapshot(p);
    // A task that is dequeued between the two counts would be counted twice or not at all: then
    // count again. Under a load that never lets two counts agree, the last one has to do.
    std::uint64_t started = p.roster.count(s);
    for (int tries = 0; tries < 32; ++tries) {
        s.queued = p.backlog.size();
        const std::uint64_t before = std::exchange(started, p.roster.count(s));
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

std::string detail::describe(const pool& p) {
    std::string text = p.config.label + ": " + to_string(snapshot_of(p));
    if (p.roster.has_start_failed() && p.control.load().workers == 0) {
        text += "\n  no thread can be started";
        if (const std::exception_ptr error = p.roster.last_start_error(); error != nullptr) {
            text += ": " + spool::describe(error);
        }
    }
    p.roster.describe(text, p.config.task_times);
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
