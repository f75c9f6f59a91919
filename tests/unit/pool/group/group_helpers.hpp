// Helpers that the tests of task_group share.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include <spool/spool.hpp>

#include "support/eventually.hpp"
#include "support/gate.hpp"
#include "unit/pool/behaviour/pool_helpers.hpp"

namespace test {

inline spool::pool_options of_size(
    std::size_t n, std::unique_ptr<spool::blocking_queue<spool::task>> queue = spool::unbounded_fifo()) {
    return {.name = "group",
            .core_size = n,
            .maximum_size = n,
            .queue = std::move(queue),
            .rejection = spool::block_policy{long_delay()}};
}
inline std::unique_ptr<spool::blocking_queue<spool::task>> stealing() {
    return std::make_unique<spool::work_stealing_queue<spool::task>>();
}

inline long fib(spool::thread_pool_executor& pool, int n) {
    if (n < 2) {
        return n;
    }
    long a = 0;
    spool::task_group children{pool};
    children.run([&] { a = fib(pool, n - 1); });
    const long b = fib(pool, n - 2);
    children.wait();
    return a + b;
}

/// True once the kernel reports that the thread sleeps. No check relies on that report being right.
inline bool falls_asleep(pid_t thread) {
    const auto is_asleep = [thread] {
        std::ifstream file{"/proc/self/task/" + std::to_string(thread) + "/stat"};
        std::string line;
        std::getline(file, line);
        const std::size_t end_of_name = line.rfind(')');
        return end_of_name != std::string::npos && line.compare(end_of_name, 3, ") S") == 0;
    };
    return eventually([&] { return is_asleep() && is_asleep(); });
}

/// The result of a future. Throws spool::timed_out after the long delay instead of hanging.
template <class T>
T in_time(spool::future<T> f) {
    return f.get_for(long_delay());
}

}  // namespace test
