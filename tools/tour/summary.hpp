// After the show: what each act did, and whether the accounts are in order.
#pragma once

#include <string>

#include "stage.hpp"

namespace tour {

void print_summary(stage& s);

/// Empty if every task is accounted for and the pool went through its whole life; else what is wrong.
[[nodiscard]] std::string find_fault(stage& s);

}  // namespace tour
