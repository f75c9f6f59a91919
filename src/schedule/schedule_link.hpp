// schedule_link: what a periodic task needs from its pool between two runs. It may outlive the
// pool.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

#include "schedule/timer_queue.hpp"
#include "spool/base/clock_source.hpp"
#include "spool/pool/thread_pool_executor.hpp"

namespace spool::inline v1::detail {

class schedule_link {
public:
    schedule_link(std::shared_ptr<clock_source> clock, at_shutdown delayed_tasks, at_shutdown periodic_tasks)
        : delayed(delayed_tasks), periodic(periodic_tasks), clock_(std::move(clock)) {}
    virtual ~schedule_link() = default;

    std::atomic<at_shutdown> delayed;
    std::atomic<at_shutdown> periodic;
    // Set by the pool's destructor. Then neither kind of task continues, even if a task changes the
    // two above.
    std::atomic<bool> being_destroyed{false};

    /// What shutdown() does to delayed tasks that are not due, and to periodic ones.
    [[nodiscard]] at_shutdown for_delayed() const noexcept {
        return being_destroyed.load() ? at_shutdown::cancel : delayed.load();
    }
    [[nodiscard]] at_shutdown for_periodic() const noexcept {
        return being_destroyed.load() ? at_shutdown::cancel : periodic.load();
    }

    [[nodiscard]] const std::shared_ptr<clock_source>& clock() const noexcept { return clock_; }
    [[nodiscard]] due_time now() const noexcept { return clock_ ? clock_->now() : due_time::clock::now(); }
    [[nodiscard]] bool may_run_periodic(run_state now) const noexcept {
        return accepts_tasks(now) || (now == run_state::shutting_down && for_periodic() == at_shutdown::keep);
    }

    [[nodiscard]] virtual bool requeue(task& work) const = 0;
    virtual void report(const std::exception_ptr& error) const noexcept = 0;
    [[nodiscard]] virtual bool terminates_on_uncaught() const noexcept = 0;

private:
    const std::shared_ptr<clock_source> clock_;  // null: the real clock
};

}  // namespace spool::inline v1::detail
