#include "pools/contenders/add_pool.hpp"
#include "pools/contenders/spool_pools.hpp"
#include "pools/workloads/growth.hpp"

namespace {

const bench::registration here{[] {
    using pool = bench::spool_pool<bench::fixed_linked>;
    bench::add_pool<pool>();
    bench::add<pool>("growth-tasks", 10'000'000, bench::producer_gets_ahead::yes,
                     [](std::size_t most) { return bench::growth_of_queue<pool>(most); });
    bench::add<pool>("growth-workers", 1'000'000, bench::producer_gets_ahead::yes,
                     [](std::size_t tasks) { return bench::growth_of_pool<pool>(tasks); });
    // The spin setting matters only in these workloads: round trips, idle, open loop.
    using sleeper = bench::spool_pool<bench::fixed_without_spin>;
    bench::add_latencies<sleeper>();
    bench::add_idle<sleeper>();
    bench::add_open_loops<sleeper>();
    using eager = bench::spool_pool<bench::fixed_low_latency>;
    bench::add_latencies<eager>();
    bench::add_idle<eager>();
    bench::add_open_loops<eager>();
}};

}  // namespace
