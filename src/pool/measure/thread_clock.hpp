// The CPU clock of a thread, which other threads may read.
#pragma once

#include <chrono>

namespace spool::inline v1 {

struct thread_identity {
    long id = 0;        // the system's; 0: not known
    int cpu_clock = 0;  // 0: none
};
[[nodiscard]] thread_identity identity_of_this_thread() noexcept;
/// Zero if there is no such clock, or the thread has ended.
[[nodiscard]] std::chrono::nanoseconds cpu_time_of(int cpu_clock) noexcept;

}  // namespace spool::inline v1
