#include "work.hpp"

#include <ctime>
#include <spool/sync/this_task.hpp>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#endif

namespace spool::lab {
namespace {

using namespace std::chrono_literals;

constexpr auto short_wait = 2ms;  // shorter waits need not be interruptible

thread_local bool submits = false;

std::chrono::nanoseconds cpu_time_of_this_thread() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return std::chrono::seconds{t.tv_sec} + std::chrono::nanoseconds{t.tv_nsec};
}

}  // namespace

void ask_for_exact_timers() noexcept {
#if defined(__linux__)
    thread_local bool asked = false;
    if (!asked) {
        asked = true;
        prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    }
#endif
}

void ask_to_go_first() noexcept {
#if defined(__linux__)
    const sched_param lowest{.sched_priority = sched_get_priority_min(SCHED_RR)};
    if (sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &lowest) != 0) {
        // This call needs a permission, too. Without it, the report shows the lateness.
        setpriority(PRIO_PROCESS, 0, -10);
    }
#endif
}

void be_submitting_thread() noexcept {
    submits = true;
}
bool on_submitting_thread() noexcept {
    return submits;
}

void wait_until(std::chrono::steady_clock::time_point end) {
    ask_for_exact_timers();
    const auto left = end - std::chrono::steady_clock::now();
    if (left < short_wait) {
        std::this_thread::sleep_until(end);
    } else {
        this_task::sleep_for(left);
    }
}

void compute_for(std::chrono::nanoseconds cpu_time) {
    const std::chrono::nanoseconds end = cpu_time_of_this_thread() + cpu_time;
    while (cpu_time_of_this_thread() < end) {}
}

}  // namespace spool::lab
