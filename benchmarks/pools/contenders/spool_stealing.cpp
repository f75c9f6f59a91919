#include "pools/contenders/add_fork_join.hpp"
#include "pools/contenders/add_pool.hpp"
#include "pools/contenders/spool_pools.hpp"
#include "pools/workloads/growth.hpp"

#include "pools/contenders/spool_fork_join.hpp"

namespace {

const bench::registration here{[] {
    using pool = bench::spool_pool<bench::stealing>;
    bench::add_pool<pool>();
    bench::add<pool>("growth-tasks", 10'000'000, bench::producer_gets_ahead::yes,
                     [](std::size_t most) { return bench::growth_of_queue<pool>(most); });
    bench::add<pool>("growth-workers", 1'000'000, bench::producer_gets_ahead::yes,
                     [](std::size_t tasks) { return bench::growth_of_pool<pool>(tasks); });
    bench::add_fork_join<bench::spool_fork_join>("spool-stealing", "Spool work stealing, task_group");
}};

}  // namespace
