// worker: one thread of a pool, as the pool sees it.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <thread>

#include "pool/stack_room.hpp"
#include "spool/base/cache_line.hpp"
#include "spool/base/task.hpp"
#include "spool/base/task_scope.hpp"
#include "spool/pool/thread_factory.hpp"

namespace spool::inline v1 {

/// How far a worker has come. Changed under the pool's workers mutex.
enum class worker_stage {
    starting,  ///< registered; the factory has not returned, the body has not begun
    dropped,   ///< the factory destroyed the body without running it
    void_,     ///< given up by the starter: a body that begins now ends at once
    working,   ///< the body runs
    let_go,    ///< the pool was destroyed by this very worker: it only leaves its task
    ended,     ///< left; its thread is about to end
};

struct worker {
    worker_info info;
    std::thread::id thread_id;  // set when the body begins
    stack_room stack;           // likewise: of that thread
    bool closing = false;       // the worker's own: counted among the pool's closers
    bool leaving = false;       // likewise: inside depart(), so counted as departing
    std::list<std::shared_ptr<worker>>::iterator position;  // in the pool's list
    task first;                                             // the worker's own once it has begun
    std::optional<task_id> lent_for;  // likewise: an extra one, for that task (0: for any)
    bool holds_first = false;         // likewise: counted in depth, but not begun
    std::list<task> kept;             // likewise: to run when the current task has ended; see keep()
    bool needs_attention = false;     // likewise: `kept` is not empty, or the stage is let_go

    // Guarded by the pool's workers mutex:
    worker_stage stage = worker_stage::starting;
    worker_thread thread;           // once the factory has returned it, until it is joined
    task_scope* scope = nullptr;    // while the body runs
    bool counted = false;           // in the pool's alive_
    bool asked_to_stop = false;     // by shutdown_now(), which visits each once
    std::uint64_t seen_number = 0;  // describe(): `started` as seen last, and when it was seen first
    std::chrono::steady_clock::time_point seen_at{};

    // Written by the worker alone, read by everybody. On a line of their own: they change with every task.
    alignas(cache_line) std::atomic<std::uint64_t> completed{0};  // statistic
    std::atomic<std::uint32_t> depth{
        0};  // tasks it runs, one inside the other, or its first, not begun; 0: idle
    std::atomic<std::uint64_t> started{0};  // tasks it began, its first counted from the beginning
    std::atomic<task_id> current{0};        // the innermost
    std::atomic<std::int64_t> started_at{
        0};  // of the innermost, in ns of the steady clock; only with task_times

    /// For the worker's own thread: whether it may begin one more task inside the one that it runs.
    [[nodiscard]] bool has_stack_room() const noexcept { return stack.has_room(depth); }
    /// Likewise: whether the task is among those that the worker has kept.
    [[nodiscard]] bool keeps(task_id id) const noexcept {
        return std::any_of(kept.begin(), kept.end(), [id](const task& t) { return t.id() == id; });
    }
};

}  // namespace spool::inline v1
