// others_sleep: whether every other thread of this process sleeps, according to the kernel.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace test {

/// Whether thread `id` of this process sleeps. A thread that is gone does not sleep.
[[nodiscard]] inline bool is_asleep(const std::string& id) {
    std::ifstream file{"/proc/self/task/" + id + "/stat"};
    std::string line;
    std::getline(file, line);
    const std::size_t end_of_name = line.rfind(')');
    return end_of_name != std::string::npos && line.compare(end_of_name, 3, ") S") == 0;
}

/// For tests that need the waiters to be asleep. A thread found asleep may be about to wake up, or
/// about to park. The test must have the same result in either case.
[[nodiscard]] inline bool others_sleep() {
    std::error_code gone;
    for (const auto& entry : std::filesystem::directory_iterator{"/proc/self/task", gone}) {
        const std::string id = entry.path().filename();
        if (id != std::to_string(gettid()) && !is_asleep(id)) {
            return false;
        }
    }
    return true;
}

}  // namespace test
