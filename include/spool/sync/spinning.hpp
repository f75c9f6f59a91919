// Looking again and again before going to sleep, where it pays. Waking a thread that sleeps takes 25 to 50 us on most machines: one that
// expects what it waits for sooner than that does better to stay awake. It is a guess, so it is made from what was seen lately,
// and what it may cost is bounded.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "spool/base/deadline.hpp"
#include "spool/base/export.hpp"

namespace spool::inline v1 {

/// No wait spins longer than this, unless told to.
inline constexpr std::chrono::nanoseconds spin_budget = std::chrono::microseconds{100};

/// One wait's turns: pauses at first, with a yield now and then, later one in each turn, so that whoever is waited for gets a CPU.
///
///     for (spin_turns turns{budget}; turns.next();) { if (ready()) { ... } }
class spin_turns {
public:
    explicit spin_turns(std::chrono::nanoseconds budget) noexcept : until_(deadline::after(budget).when()) {}
    /// False when the time is over.
    SPOOL_API bool next() noexcept;

private:
    deadline::time_point until_;
    unsigned turns_ = 0;
};

/// A time that fits into a word of 32 bits, for those who count on one that spins. It comes round after 71 minutes, and then may for a
/// moment seem not long ago.
class spin_moment {
public:
    static constexpr std::uint32_t first = 3;  ///< smaller ones do not occur

    [[nodiscard]] static std::uint32_t now() noexcept {
        const auto us =
            std::chrono::duration_cast<std::chrono::microseconds>(deadline::clock::now().time_since_epoch());
        return static_cast<std::uint32_t>(us.count()) | first;
    }
    /// Whoever spins has lost its CPU, or it would have looked since.
    [[nodiscard]] static bool is_long_ago(std::uint32_t moment) noexcept { return now() - moment > patience; }

private:
    static constexpr std::uint32_t patience = 40;  // us: not more than waking another takes
};

/// How long one has waited lately: a moving average, in which a long wait counts for no more than four budgets: it takes
/// three in a row to end the spinning, so that one who only lost its CPU for a while goes on.
///
/// Thread safety: from any thread; what two note at once may be lost, it is a guess anyway.
class recent_waits {
public:
    constexpr recent_waits() noexcept = default;

    /// How long to spin before the next wait: the budget, or not at all.
    [[nodiscard]] std::chrono::nanoseconds worth_spinning() const noexcept {
        // relaxed, hint
        return average_.load(std::memory_order_relaxed) <= spin_budget.count() ? spin_budget
                                                                               : std::chrono::nanoseconds{0};
    }
    void note(std::chrono::nanoseconds wait) noexcept {
        const std::int64_t most = 4 * spin_budget.count();
        const std::int64_t now = wait.count() < most ? wait.count() : most;
        const std::int64_t before = average_.load(std::memory_order_relaxed);    // relaxed, hint
        average_.store(before + (now - before) / 8, std::memory_order_relaxed);  // relaxed, hint
    }

private:
    std::atomic<std::int64_t> average_{0};  // ns
};

/// Whether there is a CPU for whoever is waited for. No, as long as nobody has learnt it.
[[nodiscard]] SPOOL_API bool spinning_can_help() noexcept;
/// Asks the system, once: it reads files, so the making of a pool is the place, not a wait.
SPOOL_API void learn_whether_spinning_can_help() noexcept;

/// The waits of the calling thread for futures.
[[nodiscard]] SPOOL_API recent_waits& waits_of_this_thread() noexcept;

}  // namespace spool::inline v1
