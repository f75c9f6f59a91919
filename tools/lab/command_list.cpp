// spool lab list: names the shipped scenarios.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "scenario.hpp"
#include "scenario_files.hpp"

namespace spool::lab {

void add_list_command(CLI::App& lab, int&) {
    CLI::App* command = lab.add_subcommand("list", "Names the scenarios that come with the program.");
    command->callback([] {
        for (const std::string& file : shipped_scenarios()) {
            const scenario s = read_scenario(file);
            fmt::print("{:<24} {}\n", s.name, s.story.substr(0, s.story.find(". ")));
        }
    });
}

}  // namespace spool::lab
