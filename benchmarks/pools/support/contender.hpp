// What workloads need of a pool: its traits, and the few calls that they make on it.
//
// A contender is a class with
//     static constexpr traits about{...};
//     explicit Pool(pool_shape);
//     post(f)             runs f() now or later, on any thread
//     submit(f)           optional: returns an object with get(); default: posts a packaged_task
//     finish()            optional: the caller must call it for the posted tasks to complete
#pragma once

#include <cstddef>
#include <future>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

namespace bench {

enum class hand_over {
    always,
    unless_full,  // the submitter runs a task for which there is no room
    never,        // the submitter takes part and may run every task
};

struct traits {
    std::string_view name;
    std::string_view label;
    hand_over gives = hand_over::always;
    bool queues = true;  // accepts more tasks than it has threads
    // post() blocks while the queue is full, so tasks must not post tasks.
    bool waits_when_full = false;
    bool takes_sleepers = true;  // may have hundreds of threads, for tasks that block
};

struct pool_shape {
    std::size_t workers = 2;
    // A pool that can grow may grow up to `workers` threads; the others start that many at once.
    bool may_grow = false;
};

template <class Pool>
inline constexpr bool caller_works = Pool::about.gives == hand_over::never;

/// Whether any number of tasks can be pending while the workers are held.
template <class Pool>
inline constexpr bool queues_without_limit =
    Pool::about.gives == hand_over::always && !Pool::about.waits_when_full;

template <class Pool>
void finish(Pool& pool) {
    if constexpr (requires { pool.finish(); }) {
        pool.finish();
    }
}

template <class Pool, class F>
auto submit_to(Pool& pool, F f) {
    if constexpr (requires { pool.submit(f); }) {
        return pool.submit(f);
    } else {
        // Shared, because most pools require copyable tasks.
        auto work = std::make_shared<std::packaged_task<std::invoke_result_t<F>()>>(f);
        auto result = work->get_future();
        pool.post([work = std::move(work)] { (*work)(); });
        return result;
    }
}

}  // namespace bench
