// carried_task: carries a task that is not a timer through a timer queue.
#pragma once

#include <cstdint>
#include <utility>

#include "spool/base/task.hpp"

namespace spool::inline v1::detail {

struct carried_task {
    // Its links in the queue; see timer_ref.
    std::uintptr_t before = 0;
    std::uintptr_t after = 0;
    due_time due{};
    task work;
};
static_assert(sizeof(carried_task) == 80);

}  // namespace spool::inline v1::detail
