#include "pools/contenders/baseline.hpp"

#include "pools/contenders/add_pool.hpp"

namespace {

const bench::registration here{[] {
    bench::add_pool<bench::baseline_pool>();
    bench::add_latencies<bench::thread_per_task>();
    bench::add_burst<bench::thread_per_task>();
}};

}  // namespace
