// current_settings: what may change while a pool runs: sizes, keep-alive, policy and factory.
//
// S1  core <= maximum and maximum > 0, at every instant.
// S2  Every change of a number raises the version afterwards. The caller then wakes the threads
//     that compare the version with the one they saw (pair (S): the version).
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "spool/detail/mutex.hpp"
#include "spool/pool/admission.hpp"
#include "spool/pool/pool_options.hpp"

namespace spool::inline v1 {

/// A value that can be changed while other threads read it.
///
/// One of two slots is current. set() puts a new value into the other slot, then makes that slot
/// current: so at every instant the current slot holds a whole value. Copying and destroying a
/// value, which may be user code, happen outside of the lock.
template <class T>
class setting {
public:
    explicit setting(T&& value) : slots_{std::make_shared<const T>(std::move(value)), nullptr} {}

    [[nodiscard]] std::shared_ptr<const T> get() const {
        const detail::lock_guard lock{mutex_};
        return get_without_lock();
    }
    void set(T&& value) {
        auto next = std::make_shared<const T>(std::move(value));
        std::shared_ptr<const T> old;  // destroyed after the lock
        const detail::lock_guard lock{mutex_};
        const unsigned before = current_.load();
        slots_[1 - before] = std::move(next);
        current_.store(1 - before);
        old = std::move(slots_[before]);
    }
    /// For a process whose thread that held the lock does not exist.
    [[nodiscard]] std::shared_ptr<const T> get_without_lock() const SPOOL_UNCHECKED_LOCKS {
        return slots_[current_.load()];
    }

private:
    mutable detail::mutex mutex_;
    std::array<std::shared_ptr<const T>, 2> slots_ SPOOL_GUARDED_BY(mutex_);
    std::atomic<unsigned> current_{0};
};

class current_settings {
public:
    /// Takes its settings out of `options`. `label` names the pool in messages, and must outlive
    /// this. \throws std::invalid_argument
    current_settings(const std::string& label, pool_options& options, bool queue_first);

    [[nodiscard]] admission::sizes sizes() const noexcept {
        return {core_size_.load(), maximum_size_.load(), core_may_time_out_.load(), queue_first_};
    }
    [[nodiscard]] std::size_t core_size() const noexcept { return core_size_.load(); }
    [[nodiscard]] std::size_t maximum_size() const noexcept { return maximum_size_.load(); }
    [[nodiscard]] std::chrono::nanoseconds keep_alive() const noexcept {
        return std::chrono::nanoseconds{keep_alive_.load()};
    }
    [[nodiscard]] std::uint64_t version() const noexcept { return version_.load(); }

    /// Setters of numbers: each checks, sets, and raises the version. \throws
    /// std::invalid_argument, and changes nothing. The first returns the core size before.
    std::size_t set_core_size(std::size_t n);
    void set_maximum_size(std::size_t n);
    void set_keep_alive(std::chrono::nanoseconds d);
    void set_core_may_time_out(bool allow);

    [[nodiscard]] rejection_policy rejection() const { return *rejection_.get(); }
    [[nodiscard]] thread_factory factory() const { return *factory_.get(); }
    /// \throws std::invalid_argument if empty
    void set_rejection(rejection_policy policy);
    void set_factory(thread_factory factory);

    /// Copies the settings into `options`. See setting::get_without_lock().
    void copy_without_lock(pool_options& options) const;

private:
    void check(bool holds, const std::string& what) const;
    void check_sizes(std::size_t least, std::size_t most) const;
    void check_keep_alive(std::chrono::nanoseconds d, bool core_may_time_out) const;

    std::atomic<std::size_t> core_size_;
    std::atomic<std::size_t> maximum_size_;
    std::atomic<std::int64_t> keep_alive_;  // ns
    std::atomic<std::uint64_t> version_{0};
    std::atomic<bool> core_may_time_out_;
    const bool queue_first_;
    const std::string& label_;
    mutable detail::mutex mutex_;  // guards each check-then-set of the numbers
    setting<rejection_policy> rejection_;
    setting<thread_factory> factory_;
};

}  // namespace spool::inline v1
