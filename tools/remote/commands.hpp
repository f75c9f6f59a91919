// The sub-commands of `spool remote`.
#pragma once

#include <CLI/CLI.hpp>

namespace spool::remote_demo {

void add_remote_commands(CLI::App& program, int& exit_code);

}  // namespace spool::remote_demo
