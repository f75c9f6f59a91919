// schedule_link: what a periodic task needs from its pool between two runs. It may outlive the
// pool.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

#include "spool/base/clock_source.hpp"
#include "spool/pool/thread_pool_executor.hpp"

namespace spool::inline v1::detail {

class schedule_link {
public:
    schedule_link(std::shared_ptr<clock_source> clock, bool run_delayed, bool run_periodic)
        : run_delayed_after_shutdown(run_delayed),
          run_periodic_after_shutdown(run_periodic),
          clock_(std::move(clock)) {}
    virtual ~schedule_link() = default;

    std::atomic<bool> run_delayed_after_shutdown;
    std::atomic<bool> run_periodic_after_shutdown;
    // Set by the pool's destructor. Then neither kind of task continues, even if a task sets the
    // flags above.
    std::atomic<bool> being_destroyed{false};

    [[nodiscard]] bool keeps_delayed() const noexcept {
        return run_delayed_after_shutdown.load() && !being_destroyed.load();
    }
    [[nodiscard]] bool keeps_periodic() const noexcept {
        return run_periodic_after_shutdown.load() && !being_destroyed.load();
    }

    [[nodiscard]] const std::shared_ptr<clock_source>& clock() const noexcept { return clock_; }
    [[nodiscard]] due_time now() const noexcept { return clock_ ? clock_->now() : due_time::clock::now(); }
    [[nodiscard]] bool may_run_periodic(run_state now) const noexcept {
        return accepts_tasks(now) || (now == run_state::shutting_down && keeps_periodic());
    }

    [[nodiscard]] virtual bool requeue(task& work) const = 0;
    virtual void report(const std::exception_ptr& error) const noexcept = 0;
    [[nodiscard]] virtual bool terminates_on_uncaught() const noexcept = 0;

private:
    const std::shared_ptr<clock_source> clock_;  // null: the real clock
};

}  // namespace spool::inline v1::detail
