// W3: an outside thread posts the root. Each task above depth 0 posts two tasks one level lower.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pools/support/contender.hpp"
#include "pools/support/process.hpp"
#include "pools/support/tally.hpp"
#include "pools/workloads/w01_one_producer.hpp"

namespace bench {

/// Captures 16 bytes. Numbered like a heap: the root is 1, the children of n are 2n and 2n + 1.
template <class Pool>
struct tree_task {
    Pool* pool;
    std::uint32_t depth;
    std::uint32_t number;

    void operator()() const {
        if (depth > 0) {
            pool->post(tree_task{pool, depth - 1, 2 * number});
            pool->post(tree_task{pool, depth - 1, 2 * number + 1});
        }
        tally::add(number);
    }
};

template <class Pool>
figures w03_tree(std::size_t depth) {
    double seconds = 0;
    usage used;
    const std::size_t tasks = (std::size_t{2} << depth) - 1;
    const auto measure = [&] {
        Pool pool{{.workers = 2}};
        warm_up(pool, 50'000);
        const usage before = usage_now();
        const expected_tasks all{tasks, 1};
        pool.post(tree_task<Pool>{&pool, static_cast<std::uint32_t>(depth), 1});
        finish(pool);
        all.wait();
        seconds = all.seconds();
        used = usage_now() - before;
        return all;
    };
    measure().check();
    const auto count = static_cast<double>(tasks);
    return {{"Mtasks_s", count / seconds / 1e6},
            {"cpu_ns_per_task", used.cpu_seconds * 1e9 / count},
            {"context_switches", used.context_switches}};
}

}  // namespace bench
