// How much memory this process keeps.
#pragma once

#include <fstream>
#include <string>

namespace test {

/// The resident anonymous memory of this process; -1 if the kernel does not report it.
[[nodiscard]] inline long resident_kilobytes() {
    std::ifstream status{"/proc/self/status"};
    for (std::string word; status >> word;) {
        if (word == "RssAnon:") {
            long value = 0;
            status >> value;
            return value;
        }
    }
    return -1;
}

}  // namespace test
