// others_sleep: whether the kernel says that every other thread of this process sleeps.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace test {

/// Whether thread `id` of this process sleeps; one that is gone does not.
[[nodiscard]] inline bool is_asleep(const std::string& id) {
    std::ifstream file{"/proc/self/task/" + id + "/stat"};
    std::string line;
    std::getline(file, line);
    const std::size_t end_of_name = line.rfind(')');
    return end_of_name != std::string::npos && line.compare(end_of_name, 3, ") S") == 0;
}

/// For those that wait for something to come, so that it finds them waiting. A test that relies on it may miss its point, but never fails by it.
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
