// current_settings: what may change while a pool runs: sizes, keep-alive, policy and factory.
//
// S1  core <= maximum and maximum > 0, at every instant.
// S2  Every change raises the version once, afterwards. The caller then wakes the threads that
//     compare the version with the one they saw (pair (S): the version).
// S3  A change is checked as a whole before its first field is stored.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "spool/detail/mutex.hpp"
#include "spool/pool/admission.hpp"
#include "spool/pool/pool_options.hpp"
#include "spool/pool/pool_settings.hpp"

namespace spool::inline v1 {

/// A value that can be changed while other threads read it. A forked child can read it too, whatever
/// the other threads of the parent were doing.
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
        return get_after_fork();
    }
    void set(T&& value) { static_cast<void>(exchange(std::make_shared<const T>(std::move(value)))); }
    /// Returns the value before. The caller destroys it, with no lock held.
    [[nodiscard]] std::shared_ptr<const T> exchange(std::shared_ptr<const T> next) noexcept {
        const detail::lock_guard lock{mutex_};
        const unsigned before = current_.load();
        slots_[1 - before] = std::move(next);
        current_.store(1 - before);
        return std::move(slots_[before]);
    }
    /// Takes no lock: in a forked child, a thread that does not exist may hold the lock for ever.
    [[nodiscard]] std::shared_ptr<const T> get_after_fork() const SPOOL_UNCHECKED_LOCKS {
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
    [[nodiscard]] measuring measure() const noexcept { return measure_.load(); }
    [[nodiscard]] std::uint64_t version() const noexcept { return version_.load(); }

    /// The capacity of the queue before and after a change; the caller has checked and changed it.
    struct capacity_change {
        std::size_t before;
        std::size_t after;
    };
    struct result {
        settings_change change;
        std::size_t core_before = 0;
        std::size_t core_after = 0;
    };
    /// Checks all fields of `next`, then sets them and raises the version, once, if a value
    /// differs. A dry run only checks. \throws invalid_settings, and changes nothing
    result apply(const pool_settings& next, const std::optional<capacity_change>& capacity, apply_mode mode);
    [[noreturn]] void refuse_capacity(std::size_t n, const std::string& why) const;

    [[nodiscard]] rejection_policy rejection() const { return *rejection_.get(); }
    [[nodiscard]] thread_factory factory() const { return *factory_.get(); }
    /// \throws invalid_settings if empty
    void set_factory(thread_factory factory);

    /// For a forked child: copies the settings into `options`, and takes no lock.
    void copy_after_fork(pool_options& options) const;

private:
    // The field that a refusal names, and what it was to become.
    struct blamed {
        const char* field;
        std::string value;
    };
    struct numbers {
        std::size_t core;
        std::size_t maximum;
        std::chrono::nanoseconds keep_alive;
        bool core_may_time_out;
        measuring measure;
    };
    [[nodiscard]] numbers now() const noexcept {
        return {core_size_.load(), maximum_size_.load(), keep_alive(), core_may_time_out_.load(),
                measure_.load()};
    }
    void check(bool holds, const std::string& what, const blamed& whom) const;
    void check_numbers(const numbers& n, const pool_settings& next) const;
    void check_policy(const rejection_policy& policy) const;
    void store(const numbers& next) noexcept SPOOL_REQUIRES(mutex_);

    std::atomic<std::size_t> core_size_;
    std::atomic<std::size_t> maximum_size_;
    std::atomic<std::int64_t> keep_alive_;  // ns
    std::atomic<std::uint64_t> version_{0};
    std::atomic<bool> core_may_time_out_;
    std::atomic<measuring> measure_;
    const bool queue_first_;
    const std::string& label_;
    mutable detail::mutex mutex_;  // held for each check and change of the settings
    setting<rejection_policy> rejection_;
    setting<thread_factory> factory_;
};

}  // namespace spool::inline v1
