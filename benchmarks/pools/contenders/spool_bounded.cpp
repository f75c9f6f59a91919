#include "pools/contenders/add_pool.hpp"
#include "pools/contenders/spool_pools.hpp"

namespace {

const bench::registration here{[] {
    bench::add_pool<bench::spool_pool<bench::fixed_array>>();
    bench::add_pool<bench::spool_pool<bench::cached>>();
}};

}  // namespace
