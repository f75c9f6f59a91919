// The states of scheduled futures. They lie in the pool's queue themselves, so a timer costs one
// allocation.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

#include "spool/base/export.hpp"
#include "spool/future/future.hpp"
#include "spool/schedule/scheduled_pool_options.hpp"

namespace spool::inline v1::detail {

// What a state does with the timer queue that it lies in, if any. See timer_queue.
SPOOL_API void leave_timer_queue(future_core& timer) noexcept;
[[nodiscard]] SPOOL_API task take_from_timer_queue(future_core& timer, const void* pool);
[[nodiscard]] SPOOL_API std::chrono::nanoseconds delay_in_timer_queue(const future_core& timer);
[[nodiscard]] SPOOL_API future_core::timer_place place_in_timer_queue(const future_core& timer);

/// A body that can be scheduled.
template <class T, class F>
class timer_body : public future_body<T, F> {
public:
    using future_body<T, F>::future_body;

    [[nodiscard]] task take_task() noexcept override {
        return future_runner{this, {this->priority, this->when}};
    }
    [[nodiscard]] task take_if_due(const void* pool) override { return take_from_timer_queue(*this, pool); }
    [[nodiscard]] std::chrono::nanoseconds delay() const override { return delay_in_timer_queue(*this); }
    [[nodiscard]] future_core::timer_place place_among_timers() const override {
        return place_in_timer_queue(*this);
    }

protected:
    ~timer_body() override = default;
    void leave_queue() noexcept override { leave_timer_queue(*this); }
};

template <class T, class F>
class once_body final : public timer_body<T, F> {
public:
    using timer_body<T, F>::timer_body;
    [[nodiscard]] future_core::timer_kind kind() const noexcept override {
        return future_core::timer_kind::once;
    }
};

template <class T, class F>
class wall_time_body final : public timer_body<T, F> {
public:
    template <class G>
    wall_time_body(std::chrono::system_clock::time_point wall, G&& f)
        : timer_body<T, F>(std::forward<G>(f)), wall_time_(wall) {}
    [[nodiscard]] future_core::timer_kind kind() const noexcept override {
        return future_core::timer_kind::at_wall_time;
    }
    [[nodiscard]] std::chrono::system_clock::time_point wall_time() const noexcept override {
        return wall_time_;
    }

private:
    const std::chrono::system_clock::time_point wall_time_;
};

/// From when the period of a series counts.
enum class repetition {
    fixed_rate,   ///< from when the run was due
    fixed_delay,  ///< from the end of the run
};

class schedule_link;  // requeues into the pool; see src/schedule

/// When a periodic body runs again, and its counts.
class SPOOL_API series {
public:
    series(std::shared_ptr<const schedule_link> pool, due_time first, std::chrono::nanoseconds period,
           repetition how, const periodic_options& options);
    ~series();
    series(const series&) = delete;
    series& operator=(const series&) = delete;

    /// The due time of the next run, jitter included. The first call is for the first run.
    [[nodiscard]] due_time due() noexcept;
    /// Runs the body once and requeues it, as long as the series lasts. Returns what
    /// future_core::run_as_task() returns.
    bool run(future_core& timer);
    /// Counts a run that begins. True: the caller must pass an exception from the run to failed().
    [[nodiscard]] bool begin() noexcept;
    /// True if an exception from the body must end the process.
    [[nodiscard]] bool is_fatal() const noexcept;
    void failed(const std::exception_ptr& error) noexcept;
    [[nodiscard]] future_core::run_counts counts() const noexcept;

private:
    void move_on() noexcept;

    const std::shared_ptr<const schedule_link> pool_;
    // The time of the current run, without jitter. Only the runner changes it.
    due_time grid_;
    const std::chrono::nanoseconds period_;
    const repetition repetition_;
    const missed_runs missed_;
    const on_exception on_exception_;
    const std::chrono::nanoseconds jitter_;
    std::uint64_t random_;
    std::atomic<std::uint64_t> runs_{0};      // statistic
    std::atomic<std::uint64_t> failures_{0};  // statistic
};

template <class F>
class periodic_body final : public timer_body<void, F> {
public:
    template <class G, class... Args>
    periodic_body(std::in_place_t, G&& f, Args&&... args)
        : timer_body<void, F>(std::forward<G>(f)), series_(std::forward<Args>(args)...) {
        this->when = series_.due();
    }
    [[nodiscard]] future_core::timer_kind kind() const noexcept override {
        return future_core::timer_kind::periodic;
    }
    [[nodiscard]] future_core::run_counts counts() const noexcept override { return series_.counts(); }
    bool run_as_task() override { return series_.run(*this); }

private:
    void run_body_and_forget() override {
        const auto call = [this] { timer_body<void, F>::run_body_and_forget(); };
        if (!series_.begin()) {
            call();
            return;
        }
        if (series_.is_fatal()) {
            [&call]() noexcept { call(); }();  // noexcept: the crash shows the place that threw
            return;
        }
        try {
            call();
        } catch (...) {
            series_.failed(std::current_exception());
        }
    }

    series series_;
};

}  // namespace spool::inline v1::detail
