#include "pool/measure/thread_clock.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace spool::inline v1 {

thread_identity identity_of_this_thread() noexcept {
    thread_identity self{::syscall(SYS_gettid), 0};
    clockid_t id{};
    if (::pthread_getcpuclockid(::pthread_self(), &id) == 0) {
        self.cpu_clock = id;
    }
    return self;
}

std::chrono::nanoseconds cpu_time_of(int cpu_clock) noexcept {
    timespec t{};
    if (cpu_clock == 0 || ::clock_gettime(cpu_clock, &t) != 0) {
        return std::chrono::nanoseconds{0};
    }
    return std::chrono::seconds{t.tv_sec} + std::chrono::nanoseconds{t.tv_nsec};
}

}  // namespace spool::inline v1
