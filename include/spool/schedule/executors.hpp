// Scheduled pools ready made.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "spool/base/export.hpp"
#include "spool/executor/unconfigurable.hpp"
#include "spool/schedule/scheduled_thread_pool_executor.hpp"

namespace spool::inline v1 {

/// `n` workers that stay.
/// \throws std::invalid_argument if the factory is empty
[[nodiscard]] SPOOL_API scheduled_thread_pool_executor
scheduled_thread_pool(std::size_t n, thread_factory factory = worker_thread_factory());

/// An unconfigurable_service over a scheduled pool: whoever gets it can schedule too. Destroying it cancels what is not due, as destroying
/// the pool does.
class SPOOL_API unconfigurable_scheduler final : public unconfigurable_service {
public:
    /// \throws std::invalid_argument if `pool` is null
    explicit unconfigurable_scheduler(std::unique_ptr<scheduled_thread_pool_executor> pool);
    ~unconfigurable_scheduler() override;

    /// As on the pool; see scheduled_thread_pool_executor.
    template <class F, class... Args>
    auto schedule(F&& f, Args&&... args) {
        return pool_->schedule(std::forward<F>(f), std::forward<Args>(args)...);
    }
    template <class F, class... Args>
    auto schedule_at(F&& f, Args&&... args) {
        return pool_->schedule_at(std::forward<F>(f), std::forward<Args>(args)...);
    }
    template <class F, class Initial, class Period>
    auto schedule_at_fixed_rate(F&& f, Initial initial_delay, Period period, periodic_options options = {}) {
        return pool_->schedule_at_fixed_rate(std::forward<F>(f), initial_delay, period, options);
    }
    template <class F, class Initial, class Delay>
    auto schedule_with_fixed_delay(F&& f, Initial initial_delay, Delay delay, periodic_options options = {}) {
        return pool_->schedule_with_fixed_delay(std::forward<F>(f), initial_delay, delay, options);
    }
    template <class F, class... Value>
    auto submit(F&& f, Value&&... value) {
        return pool_->submit(std::forward<F>(f), std::forward<Value>(value)...);
    }

private:
    unconfigurable_scheduler(scheduled_thread_pool_executor* raw,
                             std::unique_ptr<scheduled_thread_pool_executor>&& pool);

    scheduled_thread_pool_executor* const pool_;  // the base's
};

/// Locks the settings of a scheduled pool away: the handle owns it. \throws std::invalid_argument if `pool` is null
[[nodiscard]] SPOOL_API unconfigurable_scheduler
unconfigurable(std::unique_ptr<scheduled_thread_pool_executor> pool);

/// One worker: tasks run one after the other, in the order in which they come due. It cannot be made into anything else.
/// \throws std::invalid_argument if the factory is empty
[[nodiscard]] SPOOL_API unconfigurable_scheduler
single_thread_scheduled_executor(thread_factory factory = worker_thread_factory());

}  // namespace spool::inline v1
