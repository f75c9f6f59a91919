// Runs a scenario on a real pool.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "run_record.hpp"
#include "view.hpp"

namespace spool::lab {

/// Runs the plan until its last task has ended, or until the user interrupts; then the record is
/// partial. Shows the run on `audience`.
[[nodiscard]] run_record run_on_pool(const scenario& what,
                                     std::shared_ptr<const std::vector<planned_task>> plan, view& audience,
                                     const std::string& title);
[[nodiscard]] run_record run_on_pool(const scenario& what, view& audience);

}  // namespace spool::lab
