// After the show: the figures of each act, and a check that every task is accounted for.
#pragma once

#include <string>

#include "stage.hpp"

namespace tour {

void print_summary(stage& s);

/// Returns what is wrong; empty if every task is accounted for and the pool reached its maximum
/// size and rejected a task.
[[nodiscard]] std::string find_fault(stage& s);

}  // namespace tour
