// The kernel's figures for this process: CPU time, context switches, memory.
#pragma once

#include <sys/resource.h>

#include <fstream>
#include <stdexcept>
#include <string>

namespace bench {

struct usage {
    double cpu_seconds = 0;
    double context_switches = 0;

    friend usage operator-(const usage& a, const usage& b) {
        return {a.cpu_seconds - b.cpu_seconds, a.context_switches - b.context_switches};
    }
};

/// Returns the usage of all threads of the process, including threads that have ended.
[[nodiscard]] inline usage usage_now() {
    rusage r{};
    getrusage(RUSAGE_SELF, &r);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    return {seconds(r.ru_utime) + seconds(r.ru_stime), static_cast<double>(r.ru_nvcsw + r.ru_nivcsw)};
}

/// Returns the resident anonymous memory in bytes: heap and stacks. Pages of the executable do not
/// count, because the kernel drops and reloads them.
[[nodiscard]] inline double resident_bytes() {
    std::ifstream status{"/proc/self/status"};
    for (std::string word; status >> word;) {
        if (word == "RssAnon:") {
            double kilobytes = 0;
            status >> kilobytes;
            return kilobytes * 1024;
        }
    }
    throw std::runtime_error("/proc/self/status has no RssAnon");
}

}  // namespace bench
