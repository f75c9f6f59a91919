// scheduled_future<T>: a future that knows when its task is due.
#pragma once

#include <chrono>
#include <cstdint>

#include "spool/future/future.hpp"
#include "spool/schedule/detail/timer.hpp"

namespace spool::inline v1 {

/// The handle to a task of a scheduled_thread_pool_executor: a future that also knows its due time.
///
/// The future of a periodic task never delivers a value. It is done when the series has ended:
/// cancelled, or failed if an exception ended it. cancel() ends the series; a running body is asked
/// to stop.
template <class T>
class scheduled_future : public future<T> {
public:
    scheduled_future() noexcept = default;

    /// How long until the task is due; negative if it is overdue. Zero if it waits no longer:
    /// started, done, handed back.
    [[nodiscard]] std::chrono::nanoseconds delay() const {
        const detail::timer* const mine = state_of("delay");
        return mine != nullptr ? mine->delay() : std::chrono::nanoseconds::zero();
    }
    [[nodiscard]] bool is_periodic() const {
        const detail::timer* const mine = state_of("is_periodic");
        return mine != nullptr && mine->kind() == detail::timer_kind::periodic;
    }
    /// How many runs of a periodic task have begun, and how many exceptions were reported. Not
    /// counted: an exception that ends the series, and `interrupted` after a stop request.
    [[nodiscard]] std::uint64_t run_count() const { return counts("run_count").runs; }
    [[nodiscard]] std::uint64_t failure_count() const { return counts("failure_count").failures; }

private:
    friend class scheduled_thread_pool_executor;
    template <class F>
    explicit scheduled_future(detail::future_body<T, F, detail::timer>* state) noexcept : future<T>(state) {}

    // Null if a plain future was assigned to the base of this handle.
    [[nodiscard]] detail::timer* state_of(const char* call) const {
        return detail::timer::of(this->checked(call));
    }
    [[nodiscard]] detail::timer::run_counts counts(const char* call) const {
        const detail::timer* const mine = state_of(call);
        return mine != nullptr ? mine->counts() : detail::timer::run_counts{};
    }
};

}  // namespace spool::inline v1
