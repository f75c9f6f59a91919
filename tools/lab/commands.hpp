// The sub-commands of `spool lab`. Each adds itself to the command line and, when chosen, runs and sets the exit code.
#pragma once

namespace CLI {
class App;
}

namespace spool::lab {

inline constexpr int exit_failed = 1;
inline constexpr int exit_bad_input = 2;

void add_run_command(CLI::App& lab, int& exit_code);
void add_what_if_command(CLI::App& lab, int& exit_code);
void add_check_command(CLI::App& lab, int& exit_code);
void add_bench_command(CLI::App& lab, int& exit_code);
void add_demo_command(CLI::App& lab, int& exit_code);
void add_list_command(CLI::App& lab, int& exit_code);

}  // namespace spool::lab
