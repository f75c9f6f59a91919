#include "pools/contenders/add_pool.hpp"
#include "pools/contenders/spool_pools.hpp"
#include "pools/workloads/growth.hpp"

namespace {

// Only where it makes a difference: single tasks, rest, the open loop.
template <class Options>
void add_without_spin() {
    if constexpr (bench::has_idle_spin<Options>) {
        using pool = bench::spool_pool<bench::fixed_without_spin<Options>>;
        bench::add_latencies<pool>();
        bench::add_idle<pool>();
        bench::add_open_loops<pool>();
    }
}

const bench::registration here{[] {
    using pool = bench::spool_pool<bench::fixed_linked>;
    bench::add_pool<pool>();
    bench::add<pool>("growth-tasks", 10'000'000, bench::producer_gets_ahead::yes,
                     [](std::size_t most) { return bench::growth_of_queue<pool>(most); });
    bench::add<pool>("growth-workers", 1'000'000, bench::producer_gets_ahead::yes,
                     [](std::size_t tasks) { return bench::growth_of_pool<pool>(tasks); });
    add_without_spin<spool::pool_options>();
}};

}  // namespace
