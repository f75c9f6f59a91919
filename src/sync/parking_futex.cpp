#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

#include "spool/detail/parking.hpp"

namespace spool::inline v1 {
namespace {

static_assert(sizeof(parking_word) == sizeof(std::uint32_t) && parking_word::is_always_lock_free,
              "the kernel reads the word itself");

long futex(const void* word, int operation, std::uint32_t value, const timespec* until) noexcept {
    return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, until, nullptr,
                   FUTEX_BITSET_MATCH_ANY);
}

// The steady clock is the monotonic clock. A time before its epoch has passed.
timespec to_timespec(deadline until) noexcept {
    const auto since_start = std::max(until.when().time_since_epoch(), std::chrono::nanoseconds::zero());
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_start);
    timespec t{};
    t.tv_sec = seconds.count();
    t.tv_nsec = (since_start - seconds).count();
    return t;
}

}  // namespace

// Returns early if a signal interrupts the call or the word has changed already; the contract
// allows that.
void futex_parking::park(const word& w, std::uint32_t expected, deadline until) noexcept {
    if (until.is_never()) {
        futex(&w, FUTEX_WAIT_BITSET, expected, nullptr);
    } else {
        const timespec t = to_timespec(until);
        futex(&w, FUTEX_WAIT_BITSET, expected, &t);  // the bitset form takes an absolute time
    }
}

void futex_parking::unpark_one(const word& w) noexcept {
    futex(&w, FUTEX_WAKE, 1, nullptr);
}

void futex_parking::unpark_all(const word& w) noexcept {
    futex(&w, FUTEX_WAKE, INT_MAX, nullptr);
}

void futex_parking::late_wake::wake() const noexcept {
    futex(address_, FUTEX_WAKE, INT_MAX, nullptr);
}

}  // namespace spool::inline v1
