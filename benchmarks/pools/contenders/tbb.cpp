#include "pools/contenders/tbb.hpp"

#include "pools/contenders/add_fork_join.hpp"
#include "pools/contenders/add_pool.hpp"

namespace {

const bench::registration here{[] {
    bench::add_pool<bench::tbb_enqueue>();
    bench::add_pool<bench::tbb_task_group>();
    bench::add_fork_join<bench::tbb_fork_join>("tbb-task-group", "oneTBB task_group (caller takes part)");
}};

}  // namespace
