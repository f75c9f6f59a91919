#include "spool/detail/parking.hpp"

namespace spool::inline v1 {

void portable_parking::park(const word& w, std::uint32_t expected, deadline until) noexcept {
    std::unique_lock lock{mutex_};
    if (w.load() != expected) {
        return;
    }
    if (until.is_never()) {
        wake_.wait(lock);
    } else {
        wake_.wait_until(lock, until.when());
    }
}

// The caller has changed the word. A waiter that compared it under the mutex and found it unchanged
// is asleep once this function has taken the mutex, so the notify that follows reaches the waiter.
void portable_parking::synchronize_with_sleepers() noexcept {
    const std::lock_guard lock{mutex_};
}

void portable_parking::unpark_one(const word&) noexcept {
    synchronize_with_sleepers();
    wake_.notify_one();
}

void portable_parking::unpark_all(const word&) noexcept {
    synchronize_with_sleepers();
    wake_.notify_all();
}

}  // namespace spool::inline v1
