// The shipped scenarios, and the mapping from a name to a file.
#pragma once

#include <string>
#include <vector>

namespace spool::lab {

/// Returns `name` if it is a file, else the file of the shipped scenario (as "flash-crowd").
/// \throws input_error that lists the shipped scenarios
[[nodiscard]] std::string find_scenario(const std::string& name);

/// Returns the files of the shipped scenarios, sorted; empty if the program cannot find them.
[[nodiscard]] std::vector<std::string> shipped_scenarios();

}  // namespace spool::lab
