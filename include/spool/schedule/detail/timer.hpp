// timer: the state of a scheduled future, whatever its result. It lies in the pool's queue by
// itself, so a timer costs one allocation.
#pragma once

#include <chrono>
#include <cstdint>

#include "spool/base/export.hpp"
#include "spool/future/future.hpp"

namespace spool::inline v1::detail {

enum class timer_kind : unsigned char { once, at_wall_time, periodic };

/// Its `stamp` is when the task is due, on the steady clock.
class SPOOL_API timer : public future_core {
public:
    /// The timer that `state` is, or null if it is none.
    [[nodiscard]] static timer* of(future_core& state) noexcept;

    [[nodiscard]] virtual timer_kind kind() const noexcept = 0;
    /// For at_wall_time: the time of day at which the task is due.
    [[nodiscard]] virtual std::chrono::system_clock::time_point wall_time() const noexcept { return {}; }
    /// The timer's task calls this: runs the body. True: the right to run has moved back into a
    /// queue, and the task no longer holds it.
    virtual bool run_as_task() {
        run();
        return false;
    }
    /// How often a periodic body was started, and how many of its exceptions were reported.
    struct run_counts {
        std::uint64_t runs = 0;
        std::uint64_t failures = 0;
    };
    [[nodiscard]] virtual run_counts counts() const noexcept { return {}; }

    /// How long until the task is due, by the clock of its queue; zero if the timer lies in none.
    [[nodiscard]] std::chrono::nanoseconds delay() const;
    [[nodiscard]] const listed_ops* listed() const noexcept final;

protected:
    timer() noexcept = default;
    ~timer() override;

private:
    // The links in a queue are this word and the core's queue_word().
    friend class timer_ref;
    std::uintptr_t after_ = 0;
};

/// The callable of a timer's task. It stores the due time itself, because a pool with task_times
/// that gets the task from another pool sets the stamp.
class timer_runner : public run_right {
public:
    explicit timer_runner(timer& state) noexcept : run_right(state), due_(state.stamp) {}

    void operator()() {
        if (state().run_as_task()) {
            release();
        }
    }
    [[nodiscard]] SPOOL_UNWATCHED timer& state() const noexcept { return static_cast<timer&>(*core()); }
    [[nodiscard]] SPOOL_UNWATCHED due_time due() const noexcept { return due_; }

private:
    due_time due_;
};

template <>
struct task_traits<timer_runner> : no_task_traits {
    static constexpr bool is_future_body = true;
    [[nodiscard]] SPOOL_UNWATCHED static task_id id(const timer_runner& f) noexcept { return f.id(); }
    [[nodiscard]] SPOOL_UNWATCHED static void* shared_state(const timer_runner& f) noexcept {
        return f.core();
    }
};

}  // namespace spool::inline v1::detail
