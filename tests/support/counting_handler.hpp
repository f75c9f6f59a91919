// counting_handler: counts signals, which interrupt the system call that a thread waits in.
#pragma once

#include <atomic>
#include <csignal>

namespace test {

inline std::atomic<int> signals_handled{0};
static_assert(std::atomic<int>::is_always_lock_free);

/// Handles SIGUSR1 without SA_RESTART, so that the signal interrupts system calls, for the duration
/// of a test.
class counting_handler {
public:
    counting_handler() {
        struct sigaction action {};
        action.sa_handler = [](int) { ++signals_handled; };
        sigaction(SIGUSR1, &action, &old_);
    }
    counting_handler(const counting_handler&) = delete;
    counting_handler& operator=(const counting_handler&) = delete;
    ~counting_handler() { sigaction(SIGUSR1, &old_, nullptr); }

private:
    struct sigaction old_ {};
};

}  // namespace test
