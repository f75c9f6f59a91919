// The number of threads of the process.
#pragma once

#include <cstddef>
#include <filesystem>
#include <iterator>
#include <thread>

#include "support/eventually.hpp"

namespace test {

/// The kernel's count. It may include a joined thread for a moment.
[[nodiscard]] inline std::size_t live_threads() {
    const std::filesystem::directory_iterator tasks{"/proc/self/task"};
    return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

/// The count to return to. Taken on a new thread, which is not counted: ThreadSanitizer adds a
/// thread of its own when the program starts its first one.
[[nodiscard]] inline std::size_t threads_at_rest() {
    std::size_t count = 0;
    std::thread{[&count] { count = live_threads() - 1; }}.join();
    return count;
}

/// True once the process has no more than `before` threads.
[[nodiscard]] inline bool threads_are_back_to(std::size_t before) {
    return eventually([before] { return live_threads() <= before; });
}

}  // namespace test
