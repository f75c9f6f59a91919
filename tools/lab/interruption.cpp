#include "interruption.hpp"

#include <atomic>
#include <csignal>

namespace spool::lab {
namespace {

std::atomic<int> caught{0};
static_assert(std::atomic<int>::is_always_lock_free, "used in a signal handler");

extern "C" void on_signal(int number) {
    std::signal(number, SIG_DFL);
    caught = number;
}

}  // namespace

void catch_interruptions() {
    std::signal(SIGINT, on_signal);
    std::signal(SIGTERM, on_signal);
}

bool interrupted_by_user() noexcept {
    return caught != 0;
}

int interruption_exit_code() noexcept {
    const int number = caught;
    return number == 0 ? 0 : 128 + number;
}

}  // namespace spool::lab
