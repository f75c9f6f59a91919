// A scenario on a real pool.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "run_record.hpp"
#include "view.hpp"

namespace spool::lab {

/// Runs it to the end of its last task, or until the user interrupts: then what there is until then is the record. Shows it on the way.
[[nodiscard]] run_record run_on_pool(const scenario& what,
                                     std::shared_ptr<const std::vector<planned_task>> plan, view& audience,
                                     const std::string& title);
[[nodiscard]] run_record run_on_pool(const scenario& what, view& audience);

}  // namespace spool::lab
