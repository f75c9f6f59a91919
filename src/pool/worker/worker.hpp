// worker: the pool's record of one of its threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "pool/measure/worker_meter.hpp"
#include "pool/threads/stack_room.hpp"
#include "spool/base/task.hpp"
#include "spool/detail/cache_line.hpp"
#include "spool/detail/task_scope.hpp"
#include "spool/pool/thread_factory.hpp"

namespace spool::inline v1 {

/// The stages of a worker's life. Changed under the lock of the roster.
enum class worker_stage {
    starting,   ///< registered; the factory has not returned, the body has not begun
    dropped,    ///< the factory destroyed the body without running it
    abandoned,  ///< the starter has given the worker up: a body that begins now ends at once
    working,    ///< the body runs
    detached,   ///< this worker destroyed the pool: its thread exits when its task returns
    ended,      ///< the worker has left; its thread is about to end
};

struct worker {
    worker_info info;
    std::thread::id thread_id;  // set when the body begins
    stack_room stack;           // of that thread; set when the body begins

    // Only the worker uses these, once its body has begun (except `position`):
    bool closing = false;                                   // counted among the pool's closers
    bool leaving = false;                                   // inside depart(): counted as departing
    std::list<std::shared_ptr<worker>>::iterator position;  // in the roster's list
    task first;
    std::optional<task_id> errand;  // an extra worker, for that task (0: for any task)
    bool holds_first = false;       // `first` is counted in depth, but has not begun
    std::list<task> kept;           // to run when the current task has ended; see kept_tasks
    bool needs_attention = false;   // `kept` is not empty, or the stage is `detached`

    // Guarded by the lock of the roster:
    worker_stage stage = worker_stage::starting;
    worker_thread thread;         // from the factory's return until the join
    task_scope* scope = nullptr;  // while the body runs
    bool counted = false;         // among the workers with a thread
    bool asked_to_stop = false;   // shutdown_now() has visited this worker
    // For describe(): the last value seen of `started`, and when it was first seen.
    std::uint64_t seen_number = 0;
    std::chrono::steady_clock::time_point seen_at{};

    worker_meter meter;

    // Only the worker writes these; any thread reads them. On their own cache line: they change
    // with every task.
    alignas(cache_line) std::atomic<std::uint64_t> completed{0};  // statistic
    // Number of tasks that the worker runs, one inside the other; 0: idle. A first task that has
    // not begun counts.
    std::atomic<std::uint32_t> depth{0};
    std::atomic<std::uint64_t> started{0};  // tasks begun; the first counts from enlist() on
    std::atomic<task_id> current{0};        // the innermost task
    // When the innermost task began, in ns of the steady clock; only with task_times.
    std::atomic<std::int64_t> started_at{0};

    /// Worker's own thread only: whether the worker may begin one more task inside its current one.
    [[nodiscard]] bool has_stack_room() const noexcept { return stack.has_room(depth); }
    /// Worker's own thread only: the first task turned out to be a stale entry, so it never began.
    void drop_first() noexcept {
        if (std::exchange(holds_first, false)) {
            started.store(0);
            depth.store(0);
        }
    }
    /// Worker's own thread only: whether the worker keeps the task.
    [[nodiscard]] bool has_kept(task_id id) const noexcept {
        return std::any_of(kept.begin(), kept.end(), [id](const task& t) { return t.id() == id; });
    }
};

}  // namespace spool::inline v1
