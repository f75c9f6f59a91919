// setting: a value that can be changed while others read it, and read in a forked child whatever was going on.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <utility>

#include "spool/base/mutex.hpp"

namespace spool::inline v1 {

/// Of two places one is current. A new value is put into the other one, and then that is current: so at every instant there is
/// one that is whole. Copying and destroying a value, which may be users' code, happen outside of the lock.
template <class T>
class setting {
public:
    explicit setting(T&& value) : places_{std::make_shared<const T>(std::move(value)), nullptr} {}

    [[nodiscard]] std::shared_ptr<const T> get() const {
        const detail::lock_guard lock{mutex_};
        return get_after_fork();
    }
    void set(T&& value) {
        auto next = std::make_shared<const T>(std::move(value));
        std::shared_ptr<const T> old;  // destroyed after the lock
        const detail::lock_guard lock{mutex_};
        const unsigned before = current_.load();
        places_[1 - before] = std::move(next);
        current_.store(1 - before);
        old = std::move(places_[before]);
    }
    /// Without the lock: one who is gone may have it for ever.
    [[nodiscard]] std::shared_ptr<const T> get_after_fork() const SPOOL_UNCHECKED_LOCKS {
        return places_[current_.load()];
    }

private:
    mutable detail::mutex mutex_;
    std::array<std::shared_ptr<const T>, 2> places_ SPOOL_GUARDED_BY(mutex_);
    std::atomic<unsigned> current_{0};
};

}  // namespace spool::inline v1
