// Ready-made scheduled pools: functions for variables; classes for members, std::optional and
// std::make_unique.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <utility>

#include "spool/base/export.hpp"
#include "spool/executor/unconfigurable.hpp"
#include "spool/schedule/scheduled_thread_pool_executor.hpp"

namespace spool::inline v1 {

/// A pool with `n` workers that are kept when idle.
/// \throws std::invalid_argument if the factory is empty
[[nodiscard]] SPOOL_API scheduled_thread_pool_executor
scheduled_thread_pool(std::size_t n, thread_factory factory = worker_thread_factory());

/// An unconfigurable_service over a scheduled pool, which can schedule too. Destroying it cancels
/// the tasks that are not due, as destroying the pool does.
class SPOOL_API unconfigurable_scheduler : public unconfigurable_service {
public:
    /// \throws std::invalid_argument if `pool` is null
    explicit unconfigurable_scheduler(std::unique_ptr<scheduled_thread_pool_executor> pool);
    ~unconfigurable_scheduler() override;

    /// Like the functions of the pool; see scheduled_thread_pool_executor.
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

private:
    unconfigurable_scheduler(scheduled_thread_pool_executor* raw,
                             std::unique_ptr<scheduled_thread_pool_executor>&& pool);

    scheduled_thread_pool_executor* const pool_;  // owned by the base
};

/// Hides the settings of a scheduled pool. The returned handle owns the pool.
/// \throws std::invalid_argument if `pool` is null
template <std::derived_from<scheduled_thread_pool_executor> Pool>
[[nodiscard]] unconfigurable_scheduler unconfigurable(std::unique_ptr<Pool> pool) {
    return unconfigurable_scheduler{std::move(pool)};
}

/// One worker: tasks run one after the other, in the order in which they come due. Its settings
/// cannot be changed.
/// \throws std::invalid_argument if the factory is empty
[[nodiscard]] SPOOL_API unconfigurable_scheduler
single_thread_scheduled_executor(thread_factory factory = worker_thread_factory());

/// scheduled_thread_pool() as a type. It adds nothing to its base but the constructor.
class SPOOL_API fixed_scheduled_pool_executor : public scheduled_thread_pool_executor {
public:
    /// \throws std::invalid_argument if the factory is empty
    explicit fixed_scheduled_pool_executor(std::size_t n,
                                           spool::thread_factory factory = worker_thread_factory());
};

/// single_thread_scheduled_executor() as a type.
class SPOOL_API single_scheduled_pool_executor : public unconfigurable_scheduler {
public:
    /// \throws std::invalid_argument if the factory is empty
    explicit single_scheduled_pool_executor(thread_factory factory = worker_thread_factory());
};

}  // namespace spool::inline v1
