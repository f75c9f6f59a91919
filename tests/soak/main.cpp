// spool_soak: runs rounds until the time is up; see docs/reliability/soak.md.
//
//   spool_soak SECONDS [--seed N] [--repeat N] [--limit SECONDS]
//
// With 0 seconds the program runs only the round of that seed, as often as --repeat says. A round
// that takes longer than the limit fails.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>

#include "leaks.hpp"
#include "round.hpp"
#include "watchdog.hpp"

namespace {

using clock_type = std::chrono::steady_clock;

struct arguments {
    std::uint64_t seconds = 10;
    std::uint64_t seed = std::random_device{}();
    std::uint64_t repeat = 1;
    soak::plant planted = soak::plant::none;
};

arguments read(int argc, char** argv) {
    arguments a;
    for (int i = 1; i < argc; ++i) {
        const bool has_value = i + 1 < argc;
        if (std::strcmp(argv[i], "--seed") == 0 && has_value) {
            a.seed = std::strtoull(argv[++i], nullptr, 10);
        } else if (std::strcmp(argv[i], "--repeat") == 0 && has_value) {
            a.repeat = std::strtoull(argv[++i], nullptr, 10);
        } else if (std::strcmp(argv[i], "--limit") == 0 && has_value) {
            soak::round_limit() = std::chrono::seconds{std::strtoull(argv[++i], nullptr, 10)};
        } else if (std::strcmp(argv[i], "--plant") == 0 && has_value) {
            ++i;  // the program does not survive this plant; soak_test.cpp has the others
            a.planted = std::strcmp(argv[i], "hang") == 0 ? soak::plant::hang : soak::plant::none;
        } else if (argv[i][0] >= '0' && argv[i][0] <= '9') {
            a.seconds = std::strtoull(argv[i], nullptr, 10);
        } else {
            std::fputs("usage: spool_soak SECONDS [--seed N] [--repeat N] [--limit SECONDS]\n", stderr);
            std::exit(2);
        }
    }
    return a;
}

struct totals {
    std::uint64_t rounds = 0;
    std::uint64_t pools = 0;
    std::uint64_t operations = 0;
    std::uint64_t tasks = 0;
    std::size_t memory_after_warm_up = 0;

    void add(const soak::round_report& r) {
        ++rounds;
        pools += r.pools;
        operations += r.operations;
        tasks += r.tasks;
    }
};

constexpr std::uint64_t warm_up = 200;  // rounds
constexpr std::size_t allowed_growth = std::size_t{32} << 20U;

// False: the memory of the process grows from round to round.
bool memory_is_steady(totals& all) {
    if (all.rounds == warm_up) {
        all.memory_after_warm_up = soak::bytes_in_use();
    }
    if (all.rounds % warm_up != 0 || soak::bytes_in_use() < all.memory_after_warm_up + allowed_growth) {
        return true;
    }
    std::fprintf(stderr, "soak: %zu MB in use after %llu rounds, %zu MB now\n",
                 all.memory_after_warm_up >> 20U, static_cast<unsigned long long>(warm_up),
                 soak::bytes_in_use() >> 20U);
    return false;
}

bool is_clean(const soak::round_report& report) {
    if (report.problems.empty()) {
        return true;
    }
    std::fprintf(stderr, "soak: a round failed: %sreplay it alone: scripts/soak 0 --seed %llu\n",
                 to_string(report).c_str(), static_cast<unsigned long long>(report.seed));
    return false;
}

}  // namespace

int main(int argc, char** argv) {
    const arguments a = read(argc, argv);
    std::printf("soak: seed %llu\n", static_cast<unsigned long long>(a.seed));
    std::fflush(stdout);
    std::thread{[] {}}.join();  // a sanitizer starts its helper with the first thread
    soak::start_watchdog();
    totals all;
    bool fine = true;
    const auto end = clock_type::now() + std::chrono::seconds{a.seconds};
    for (std::uint64_t i = 0; fine && (a.seconds == 0 ? i < a.repeat : clock_type::now() < end); ++i) {
        const soak::round_report report = soak::run_round(a.seconds == 0 ? a.seed : a.seed + i, a.planted);
        all.add(report);
        fine = is_clean(report) && memory_is_steady(all);
    }
    std::printf("soak: %llu rounds, %llu pools, %llu operations, %llu tasks, %zu MB in use: %s\n",
                static_cast<unsigned long long>(all.rounds), static_cast<unsigned long long>(all.pools),
                static_cast<unsigned long long>(all.operations), static_cast<unsigned long long>(all.tasks),
                soak::bytes_in_use() >> 20U, fine ? "clean" : "FAILED");
    return fine ? 0 : 1;
}
