// admission: what a pool decides when a task arrives and when a worker looks for one. Pure
// functions of the control word, the sizes and the queue's answers, so that a simulator can share
// them with the pool.
//
// A task arrives:
//
//     on_arrival ---- start_worker --> started: done
//         |                            not started: offer; no worker at all: reject
//         +---------- offer ---------> taken:   after_offer: done / take back / start a worker
//         |                            refused: after_refusal: start a worker, up to the
//         |                                     maximum / reject
//         +---------- reject
#pragma once

#include <cstddef>

#include "spool/pool/run_state.hpp"

namespace spool::inline v1::admission {

/// The settings that the decisions depend on.
struct sizes {
    std::size_t core = 1;
    std::size_t maximum = 1;
    bool core_may_time_out = false;
    bool queue_first = false;  ///< every task goes through the queue, which knows when it is due
};

// ---- A task arrives

enum class arrival { start_worker, offer, reject_shut_down };

/// Step 1: below the core size, start a worker with this task as its first; otherwise offer the
/// task to the queue. With queue_first, the worker is started after the offer (see after_offer).
[[nodiscard]] constexpr arrival on_arrival(pool_control now, const sizes& s) noexcept {
    if (!accepts_tasks(now.state)) {
        return arrival::reject_shut_down;
    }
    return now.workers < s.core && !s.queue_first ? arrival::start_worker : arrival::offer;
}

enum class offered { done, take_back, start_worker };

/// Step 2, after the queue took the task, with a second load of the control word. Between the first
/// load and the offer the pool may have shut down, or its last worker may have left.
[[nodiscard]] constexpr offered after_offer(pool_control again, const sizes& s = {}) noexcept {
    if (!accepts_tasks(again.state)) {
        return offered::take_back;
    }
    const bool too_few = again.workers == 0 || (s.queue_first && again.workers < s.core);
    return too_few ? offered::start_worker : offered::done;
}

enum class refused { start_worker, reject_full, reject_shut_down };

/// Step 3, after the queue refused the task.
[[nodiscard]] constexpr refused after_refusal(pool_control now, const sizes& s) noexcept {
    if (!accepts_tasks(now.state)) {
        return refused::reject_shut_down;
    }
    return now.workers < s.maximum ? refused::start_worker : refused::reject_full;
}

/// Whether a worker may be started now. While shutting down, only a worker without a first task may
/// start, and only if tasks are queued.
[[nodiscard]] constexpr bool may_start(pool_control now, std::size_t bound, bool has_first_task,
                                       bool queue_empty) noexcept {
    const bool wanted = accepts_tasks(now.state) ||
                        (now.state == run_state::shutting_down && !has_first_task && !queue_empty);
    return wanted && now.workers < bound && now.workers < largest_pool;
}

// ---- A worker looks for a task

/// Whether the worker must leave: the pool is stopping, or it is shutting down and the queue is
/// empty.
[[nodiscard]] constexpr bool must_leave(pool_control now, bool queue_empty) noexcept {
    return !runs_queue(now.state) || (!accepts_tasks(now.state) && queue_empty);
}

/// Whether the keep-alive limits the worker's wait.
[[nodiscard]] constexpr bool waits_with_limit(pool_control now, const sizes& s) noexcept {
    return s.core_may_time_out || now.workers > s.core;
}

/// Whether the worker may leave because it timed out, or because there are more workers than the
/// maximum. The last worker may leave only if the queue is empty.
[[nodiscard]] constexpr bool may_leave(pool_control now, const sizes& s, bool timed_out,
                                       bool queue_empty) noexcept {
    const bool one_too_many = now.workers > s.maximum;
    const bool idle_too_long = timed_out && waits_with_limit(now, s);
    return (one_too_many || idle_too_long) && (now.workers > 1 || queue_empty);
}

/// The least number of workers that must be left after a worker has left.
[[nodiscard]] constexpr std::size_t least_workers(const sizes& s, bool queue_empty) noexcept {
    const std::size_t least = s.core_may_time_out ? 0 : s.core;
    return least == 0 && !queue_empty ? 1 : least;
}

}  // namespace spool::inline v1::admission
