// scheduled_future<T>: a future that knows when its task is due.
#pragma once

#include <chrono>
#include <cstdint>

#include "spool/future/future.hpp"

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
    [[nodiscard]] std::chrono::nanoseconds delay() const { return this->checked("delay").delay(); }
    [[nodiscard]] bool is_periodic() const {
        return this->checked("is_periodic").kind() == detail::future_core::timer_kind::periodic;
    }
    /// How many runs of a periodic task have begun, and how many exceptions were reported. Not
    /// counted: an exception that ends the series, and `interrupted` after a stop request.
    [[nodiscard]] std::uint64_t run_count() const { return this->checked("run_count").counts().runs; }
    [[nodiscard]] std::uint64_t failure_count() const {
        return this->checked("failure_count").counts().failures;
    }

private:
    friend class scheduled_thread_pool_executor;
    template <class F>
    explicit scheduled_future(detail::future_body<T, F>* state) noexcept : future<T>(state) {}
    [[nodiscard]] detail::future_core& core(const char* call) const { return this->checked(call); }
};

}  // namespace spool::inline v1
