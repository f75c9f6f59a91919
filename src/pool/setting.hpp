// setting: a value that can be changed while other threads read it. A forked child can read it too,
// whatever the other threads of the parent were doing.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <utility>

#include "spool/detail/mutex.hpp"

namespace spool::inline v1 {

/// One of two slots is current. set() puts a new value into the other slot, then makes that slot
/// current: so at every instant the current slot holds a whole value. Copying and destroying a
/// value, which may be user code, happen outside of the lock.
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
    /// Takes no lock: in a forked child, a thread that does not exist may hold the lock for ever.
    [[nodiscard]] std::shared_ptr<const T> get_after_fork() const SPOOL_UNCHECKED_LOCKS {
        return places_[current_.load()];
    }

private:
    mutable detail::mutex mutex_;
    std::array<std::shared_ptr<const T>, 2> places_ SPOOL_GUARDED_BY(mutex_);
    std::atomic<unsigned> current_{0};
};

}  // namespace spool::inline v1
