// Helpers that the tests of the scheduled pool share.
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <unistd.h>
#include <utility>

#include <spool/spool.hpp>
#include <spool/testing/manual_clock.hpp>

#include "support/eventually.hpp"
#include "unit/pool/behaviour/pool_helpers.hpp"

namespace test {

using namespace std::chrono_literals;

/// A scheduled pool whose clock stands still until the test moves it.
struct timed_pool {
    explicit timed_pool(spool::scheduled_pool_options options = {.core_size = 1})
        : pool((options.clock = clock, std::move(options))) {}

    /// With one worker: everything that is due has run when this returns. Three rounds, for a task
    /// that is requeued for this very instant.
    void settle() {
        for (int i = 0; i < 3; ++i) {
            pool.submit([] {}).get();
        }
    }
    template <class Duration>
    void advance(Duration d) {
        clock->advance(d);
        settle();
    }

    std::shared_ptr<spool::testing::manual_clock> clock = std::make_shared<spool::testing::manual_clock>();
    spool::scheduled_thread_pool_executor pool;
};

/// True if every other thread of the process sleeps in the kernel.
inline bool all_others_asleep() {
    for (const auto& entry : std::filesystem::directory_iterator{"/proc/self/task"}) {
        std::ifstream file{entry.path() / "stat"};
        std::string line;
        std::getline(file, line);
        const std::size_t end_of_name = line.rfind(')');
        const bool asleep = end_of_name == std::string::npos || line.compare(end_of_name, 3, ") S") == 0;
        if (!asleep && entry.path().filename() != std::to_string(gettid())) {
            return false;
        }
    }
    return true;
}
/// True once all other threads sleep. A thread that was woken does not sleep again before it has
/// looked for work.
inline bool others_fall_asleep() {
    return eventually([] { return all_others_asleep() && all_others_asleep(); });
}

}  // namespace test
