// spinning: polling a condition before going to sleep, where it pays. A short wait is cheaper
// awake: a sleep and a wake-up cost CPU time on both sides, and the wake-up takes 5 to 50 us. How
// long a wait will last is a guess from recent waits. The cost of a wrong guess is bounded.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "spool/base/deadline.hpp"
#include "spool/base/export.hpp"

namespace spool::inline v1 {

/// What a sleep and a wake-up cost in CPU time, including the waker's part. Measured on x86-64
/// under Linux, on a virtual machine: 16 us across two CPUs, 2 us on one. A wait that lasts longer
/// is cheaper asleep. By default an idle worker spins no longer than this, and that long only after
/// short waits.
inline constexpr std::chrono::nanoseconds break_even = std::chrono::microseconds{16};

/// How long a wait spins after a wait of medium length. It is an eighth of break_even, so it costs
/// little, and it detects when waits become short.
inline constexpr std::chrono::nanoseconds min_spin = break_even / 8;

/// A larger limit, for spins that pay with CPU time for low latency: idle_spin::low_latency(), the
/// trials of future_waits, and joins of a task group.
inline constexpr std::chrono::nanoseconds spin_budget = std::chrono::microseconds{100};

/// The rounds of one spin. Each round pauses. A budget above min_spin also yields, at first now and
/// then, later in each round, so that the thread waited for gets a CPU.
///
///     for (spin_loop loop{budget}; loop.next();) { if (ready()) { ... } }
class spin_loop {
public:
    explicit spin_loop(std::chrono::nanoseconds budget) noexcept
        : until_(deadline::after(budget).when()), yields_(budget > min_spin) {}
    /// Waits for one round. False when the budget is used up.
    SPOOL_API bool next() noexcept;

private:
    deadline::time_point until_;
    // A short spin keeps the CPU: a thread that yields to a busy one may wait for milliseconds.
    bool yields_;
    unsigned rounds_ = 0;
};

/// A time in 32 bits, in microseconds, for notifiers that rely on a spinning waiter. The value
/// wraps around after 71 minutes; a time of that age may briefly seem recent.
class spin_timestamp {
public:
    [[nodiscard]] static std::uint32_t now() noexcept {
        const auto us =
            std::chrono::duration_cast<std::chrono::microseconds>(deadline::clock::now().time_since_epoch());
        return static_cast<std::uint32_t>(us.count());
    }
    /// True: the spinning waiter has lost its CPU, or it would have polled since.
    [[nodiscard]] static bool is_long_ago(std::uint32_t timestamp) noexcept {
        return now() - timestamp > timeout;
    }

private:
    static constexpr std::uint32_t timeout = 40;  // us: not more than waking another takes
};

/// How long the next wait spins:
///
///     the last two waits were no longer than the budget          the budget
///     nothing had come for longer than spin_budget               not at all
///     anything else                                              min_spin
///
/// So one long wait ends the long spins, and two short waits start them again. A wait that ends
/// with a wake-up seems longer than it had to be, so min_spin must detect that waits have become
/// short. A wait longer than spin_budget was long whatever its wake-up took. After such a wait even
/// min_spin would be wasted: the thread that woke this one often waits for the CPU that this one
/// would keep.
///
/// Thread safety: any thread may call every member. If two threads record a wait at once, one
/// may be lost; the result is a guess anyway.
class recent_waits {
public:
    /// `budget`: how long a wait may spin, and the longest wait that counts as short; at most
    /// spin_budget.
    explicit constexpr recent_waits(std::chrono::nanoseconds budget = break_even) noexcept
        : budget_(budget) {}

    [[nodiscard]] std::chrono::nanoseconds next_spin() const noexcept {
        const int waits = short_waits_.load(std::memory_order_relaxed);  // relaxed, hint
        return waits >= enough ? budget_ : waits == after_long_wait ? std::chrono::nanoseconds{0} : min_spin;
    }
    /// For one thread.
    void record(std::chrono::nanoseconds wait) noexcept { update(wait, wait); }
    /// For threads that take turns: each of them waits longer than the time from one arrival to the
    /// next. `now`: when the wait ended.
    void record(std::chrono::nanoseconds wait, deadline::time_point now) noexcept {
        if (wait <= budget_) {
            update(wait, wait);
            return;
        }
        // relaxed, hint
        const deadline::time_point last = last_end_.load(std::memory_order_relaxed);
        last_end_.store(now, std::memory_order_relaxed);  // relaxed, hint
        update(wait, std::min<std::chrono::nanoseconds>(wait, now - last));
    }

private:
    static constexpr int enough = 2;
    static constexpr int after_long_wait = -1;

    // `gap`: for how long nothing had come.
    void update(std::chrono::nanoseconds wait, std::chrono::nanoseconds gap) noexcept {
        const int before = short_waits_.load(std::memory_order_relaxed);  // relaxed, hint
        const int now = gap > spin_budget ? after_long_wait
                        : wait > budget_  ? 0
                                          : std::clamp(before + 1, 1, enough);
        if (now != before) {
            short_waits_.store(now, std::memory_order_relaxed);  // relaxed, hint
        }
    }

    std::chrono::nanoseconds budget_;
    // In a row, counted up to `enough`; or after_long_wait.
    std::atomic<int> short_waits_{enough};
    // When the last wait longer than the budget ended.
    std::atomic<deadline::time_point> last_end_{deadline::time_point{}};
};

/// The same for one thread's waits for futures. Two threads that wait for each other in turn make
/// each other's waits long by sleeping, so neither would begin to spin. So now and then a wait
/// spins as long as the other thread may need to wake up. A trial without success doubles the
/// number of waits until the next trial.
class future_waits {
public:
    [[nodiscard]] std::chrono::nanoseconds next_spin() noexcept {
        is_trial_ = long_waits_ >= next_trial_;
        return is_trial_ ? spin_budget : waits_.next_spin();
    }
    void record(std::chrono::nanoseconds wait) noexcept {
        waits_.record(wait);
        if (is_trial_) {
            next_trial_ = wait <= spin_budget ? first_trial : std::min(2 * next_trial_, last_trial);
            long_waits_ = 0;
        }
        long_waits_ = wait > break_even ? long_waits_ + 1 : 0;
    }

private:
    static constexpr unsigned first_trial = 4;
    static constexpr unsigned last_trial = 256;

    recent_waits waits_;
    unsigned long_waits_ = 0;  // in a row
    unsigned next_trial_ = first_trial;
    bool is_trial_ = false;
};

/// Whether the thread waited for can run meanwhile: the process may use more than one CPU. False
/// until detect_whether_spinning_can_help() was called.
[[nodiscard]] SPOOL_API bool can_spinning_help() noexcept;
/// The same, and there is CPU time to spare: the cgroup quota is at least two CPUs, and the process
/// was not throttled recently. The form with `now` asks the system again once a second if there is
/// a quota at all, which reads a file.
[[nodiscard]] SPOOL_API bool is_spinning_worthwhile() noexcept;
[[nodiscard]] SPOOL_API bool is_spinning_worthwhile(deadline::time_point now) noexcept;
/// Asks the system once. It reads files, so call it when a pool is made, not in a wait.
SPOOL_API void detect_whether_spinning_can_help() noexcept;

/// The record of the calling thread's waits for futures.
[[nodiscard]] SPOOL_API future_waits& waits_of_this_thread() noexcept;

}  // namespace spool::inline v1
