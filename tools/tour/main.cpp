// spool-tour: drives a real pool through its life and shows what it does, live.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <string>

#include <spool/spool.hpp>

#include "acts.hpp"
#include "stage.hpp"
#include "summary.hpp"
#include "view.hpp"

namespace {

using namespace std::chrono_literals;

constexpr int exit_usage = 2;

constexpr const char* usage = R"(usage: spool-tour [--fast] [--help]

Drives a thread pool through its life, from the first worker to the shutdown, and shows its size, its
active workers, its queue and what it rejects: as moving bars on a terminal, as plain lines elsewhere.

  --fast   in two seconds instead of seventeen
  --help   this text

Exit code: 0, or 1 if the pool lost count of a task, or 2 for a wrong option. Ctrl-C ends it in good order.
The bars are coloured unless the environment variable NO_COLOR is set.
)";

// Restores the default action, so that a second signal kills the program.
extern "C" void on_signal(int signal) {
    std::signal(signal, SIG_DFL);
    tour::request_curtain(signal);
}

void play(tour::stage& stage) {
    for (const tour::act& next : tour::acts()) {
        stage.begin(next.text);
        next.play(stage);
        stage.end();
    }
}

int fail(const char* what) {
    std::fprintf(stderr, "spool-tour: %s\n", what);
    return 1;
}

int run(bool fast) {
    const std::chrono::milliseconds beat = fast ? 6ms : 50ms;
    std::unique_ptr<tour::view> audience = tour::make_live_view();
    if (audience == nullptr) {
        audience = tour::make_plain_view(12 * beat);
    }
    tour::stage stage{*audience, beat, tour::acts().size()};
    std::string fault;
    try {
        play(stage);
        fault = tour::find_fault(stage);
    } catch (const tour::curtain& early) {
        const spool::shutdown_report end = spool::shutdown_and_await(stage.pool(), 0s, 10s);
        audience.reset();  // restores the terminal
        std::printf("stopped early: %zu tasks handed back, the rest asked to stop%s\n", end.never_ran.size(),
                    end.terminated ? "" : ", in vain");
        return 128 + early.signal;
    } catch (const tour::show_failed& e) {
        fault = e.what();
        static_cast<void>(spool::shutdown_and_await(stage.pool(), 0s, 10s));
    }
    audience.reset();
    tour::print_summary(stage);
    if (!fault.empty()) {
        std::fflush(stdout);
        return fail(fault.c_str());
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    bool fast = false;
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--help") == 0) {
            std::fputs(usage, stdout);
            return 0;
        }
        if (std::strcmp(argv[i], "--fast") != 0) {
            std::fprintf(stderr, "spool-tour: unknown option '%s'\n%s", argv[i], usage);
            return exit_usage;
        }
        fast = true;
    }
    std::signal(SIGINT, on_signal);
    std::signal(SIGTERM, on_signal);
    try {
        const int result = run(fast);
        if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
            return fail("cannot write to standard output");
        }
        return result;
    } catch (const std::exception& e) {
        return fail(e.what());
    }
}
