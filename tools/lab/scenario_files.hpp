// The scenarios that come with the program, and how a name becomes a file.
#pragma once

#include <string>
#include <vector>

namespace spool::lab {

/// The file itself if there is one of this name, else the shipped scenario: "flash-crowd". \throws input_error naming those that there are
[[nodiscard]] std::string find_scenario(const std::string& name);

/// The files of the shipped scenarios, sorted; empty if the program cannot find them.
[[nodiscard]] std::vector<std::string> shipped_scenarios();

}  // namespace spool::lab
