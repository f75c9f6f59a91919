// What a pool tells the workloads about itself, and the few calls that they make on it.
//
// A contender is a class with
//     static constexpr traits about{...};
//     explicit Pool(pool_shape);
//     post(f)             runs f() some time
//     submit(f)           optional: something with get(); otherwise a std::packaged_task is posted
//     finish()            optional: what the caller has to call for its tasks to be done
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
    unless_full,  // a task that finds no room is run by its submitter
    never,        // the submitter takes part, and may run all of them
};

struct traits {
    std::string_view name;
    std::string_view label;
    hand_over gives = hand_over::always;
    bool queues = true;            // takes more tasks than it has threads
    bool waits_when_full = false;  // post() blocks at some number of tasks: nothing for tasks that post tasks
    bool takes_sleepers = true;    // may be built with hundreds of threads, for tasks that block
};

struct pool_shape {
    std::size_t workers = 2;
    bool may_grow = false;  // `workers` is where a pool that can grow may end; the others start so many
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
        // Shared, because most pools want tasks that can be copied.
        auto work = std::make_shared<std::packaged_task<std::invoke_result_t<F>()>>(f);
        auto result = work->get_future();
        pool.post([work = std::move(work)] { (*work)(); });
        return result;
    }
}

}  // namespace bench
