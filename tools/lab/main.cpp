// spool: the command-line program. `spool lab` examines pools under load.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <new>
#include <spool/version.hpp>

#include "commands.hpp"
#include "json_fields.hpp"
#include "report_figures.hpp"
#if defined(SPOOL_HAS_REMOTE)
#include "remote/commands.hpp"
#endif

namespace {

void fail(const std::exception& e) {
    std::fflush(stdout);
    std::fprintf(stderr, "spool: %s\n", e.what());
}

int run(int argc, char** argv) {
    int exit_code = 0;
    spool::lab::remember_command(argc, argv);
    CLI::App program{"Spool: thread pools under load, real and simulated.", "spool"};
    program.require_subcommand(1);
    CLI::App* lab = program.add_subcommand("lab", "Runs, simulates, checks and compares thread pools.");
    lab->require_subcommand(1);
    spool::lab::add_run_command(*lab, exit_code);
    spool::lab::add_what_if_command(*lab, exit_code);
    spool::lab::add_check_command(*lab, exit_code);
    spool::lab::add_bench_command(*lab, exit_code);
    spool::lab::add_list_command(*lab, exit_code);
    spool::lab::add_demo_command(*lab, exit_code);
#if defined(SPOOL_HAS_REMOTE)
    spool::remote_demo::add_remote_commands(program, exit_code);
#endif
    try {
        program.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return program.exit(e) == 0 ? 0 : spool::lab::exit_bad_input;
    } catch (const spool::lab::input_error& e) {
        fail(e);
        return spool::lab::exit_bad_input;
    }
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
        std::fputs("spool: cannot write to standard output\n", stderr);
        return spool::lab::exit_failed;
    }
    return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::bad_alloc&) {
        std::fputs("spool: there is not enough memory for so many tasks: lower the rate or the duration\n",
                   stderr);
        return spool::lab::exit_failed;
    } catch (const std::exception& e) {
        fail(e);
        return spool::lab::exit_failed;
    }
}
