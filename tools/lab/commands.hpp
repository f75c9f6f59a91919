// The sub-commands of `spool lab`. Each function adds one, which runs and sets the exit code when
// the user chooses it.
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
