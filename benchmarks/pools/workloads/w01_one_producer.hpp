// W1: one outside thread posts empty tasks to 2 workers; W1x1: to 1 worker.
#pragma once

#include <algorithm>
#include <cstddef>

#include "pools/support/contender.hpp"
#include "pools/support/process.hpp"
#include "pools/support/tally.hpp"

namespace bench {

struct flood {
    double seconds = 0;
    double posting_seconds = 0;
    usage used;
};

/// Posts `tasks` tasks from this thread and waits until all have run. The caller checks exactness
/// with expected_tasks::check().
template <class Pool>
flood post_and_wait(Pool& pool, const expected_tasks& all, std::size_t tasks) {
    const usage before = usage_now();
    for (std::size_t i = 0; i < tasks; ++i) {
        pool.post(bump{i});
    }
    flood result;
    result.posting_seconds = all.seconds();
    finish(pool);
    all.wait();
    result.seconds = all.seconds();
    result.used = usage_now() - before;
    return result;
}

/// Runs `tasks` tasks that do not count for the time. Checks their exactness.
template <class Pool>
void warm_up(Pool& pool, std::size_t tasks) {
    const expected_tasks some{tasks};
    post_and_wait(pool, some, tasks);
    some.check();
}

template <class Pool>
figures w01_one_producer(std::size_t tasks, std::size_t workers) {
    flood found;
    const auto measure = [&] {
        Pool pool{{.workers = workers}};
        warm_up(pool, std::min<std::size_t>(tasks, 50'000));
        const expected_tasks all{tasks};
        found = post_and_wait(pool, all, tasks);
        return all;
    };
    measure().check();
    const auto count = static_cast<double>(tasks);
    return {{"Mtasks_s", count / found.seconds / 1e6},
            {"ns_per_post", found.posting_seconds * 1e9 / count},
            {"cpu_ns_per_task", found.used.cpu_seconds * 1e9 / count},
            {"context_switches", found.used.context_switches}};
}

}  // namespace bench
