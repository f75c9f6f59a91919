// How many threads the process has.
#pragma once

#include <cstddef>
#include <filesystem>
#include <iterator>
#include <thread>

#include "support/eventually.hpp"

namespace test {

/// The kernel's count. A thread that was joined may still be in it for a moment.
[[nodiscard]] inline std::size_t live_threads() {
    const std::filesystem::directory_iterator tasks{"/proc/self/task"};
    return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

/// The count to come back to. Taken on a thread of its own, which is not counted: ThreadSanitizer adds one for itself
/// when the program starts its first.
[[nodiscard]] inline std::size_t threads_at_rest() {
    std::size_t count = 0;
    std::thread{[&count] { count = live_threads() - 1; }}.join();
    return count;
}

/// True once there are no more than `before`.
[[nodiscard]] inline bool threads_are_back_to(std::size_t before) {
    return eventually([before] { return live_threads() <= before; });
}

}  // namespace test
