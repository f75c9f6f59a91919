#include "leaks.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <thread>
#include <vector>

#include "support/gate.hpp"

#ifdef __has_feature
#define SOAK_HAS_FEATURE(x) __has_feature(x)
#else
#define SOAK_HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || SOAK_HAS_FEATURE(address_sanitizer) ||  \
    SOAK_HAS_FEATURE(thread_sanitizer)
// Declared here, because not every compiler ships the sanitizers' header.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();
#define SOAK_SANITIZED
#endif

namespace soak {
namespace {

struct leaked {
    std::mutex mutex;  // guards all members
    std::vector<std::thread> threads;
    std::vector<int> descriptors;
    std::vector<std::unique_ptr<test::gate>> gates;
};
leaked& all_leaked() {
    static leaked all;
    return all;
}

std::size_t entries_of(const char* folder) {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator{folder}, {}));
}

}  // namespace

std::size_t thread_count() {
    return entries_of("/proc/self/task");
}
std::size_t descriptor_count() {
    return entries_of("/proc/self/fd");
}
#ifdef SOAK_SANITIZED
std::size_t bytes_in_use() {
    return __sanitizer_get_current_allocated_bytes();
}
#else
std::size_t bytes_in_use() {
    std::ifstream file{"/proc/self/statm"};
    std::size_t pages = 0;
    file >> pages >> pages;
    return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}
#endif

void leak_thread() {
    leaked& all = all_leaked();
    const std::lock_guard lock{all.mutex};
    test::gate& end = *all.gates.emplace_back(std::make_unique<test::gate>());
    all.threads.emplace_back([&end] { end.wait(); });
}
void leak_descriptor() {
    leaked& all = all_leaked();
    const std::lock_guard lock{all.mutex};
    all.descriptors.push_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
}
void mend_leaks() {
    leaked& all = all_leaked();
    const std::lock_guard lock{all.mutex};
    for (const auto& gate : all.gates) {
        gate->open();
    }
    for (std::thread& t : all.threads) {
        t.join();
    }
    for (const int descriptor : all.descriptors) {
        close(descriptor);
    }
    all.threads.clear();
    all.descriptors.clear();
    all.gates.clear();
}

}  // namespace soak
