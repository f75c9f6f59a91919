// timer_queue: the queue of the scheduled pool. Holds tasks until they are due. Timers lie in it by
// themselves; any other task lies in a carried_task.
// due_waiters has the protocol by which takers wait.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "schedule/timer_gate.hpp"
#include "schedule/timer_wheel.hpp"
#include "spool/base/clock_source.hpp"
#include "spool/detail/mutex.hpp"
#include "spool/queue/blocking_queue.hpp"
#include "spool/queue/delay_queue.hpp"

namespace spool::inline v1::detail {

class schedule_link;

/// What shutdown() does to the waiting tasks of a kind.
enum class at_shutdown : unsigned char { cancel, keep };

class timer_queue final : public blocking_queue<task>, private clock_listener {
public:
    /// A null clock means the real clocks.
    explicit timer_queue(std::shared_ptr<clock_source> clock);
    ~timer_queue() override;

    [[nodiscard]] std::size_t size() const override;
    wait_result pop_until(std::optional<task>& x, const wait_limits& limits,
                          function_ref<bool()> give_up = never_give_up) override;
    void wake_consumers() noexcept override;

    [[nodiscard]] due_time now() const noexcept { return clock_ ? clock_->now() : due_time::clock::now(); }
    [[nodiscard]] std::chrono::system_clock::time_point wall_now() const noexcept {
        return clock_ ? clock_->wall_now() : std::chrono::system_clock::now();
    }
    /// The end of a delay that starts now. A negative delay ends at once, one too large never.
    [[nodiscard]] due_time after(std::chrono::nanoseconds delay) const noexcept;
    /// When the time of day is expected to reach `wall`.
    [[nodiscard]] due_time expected(std::chrono::system_clock::time_point wall) const noexcept;

    /// The pool whose waiting workers may take a task out and run it.
    void set_pool(const void* pool) noexcept { pool_ = pool; }
    /// What periodic tasks need from that pool. The queue stores it for the pool.
    void set_link(std::shared_ptr<schedule_link> link) noexcept { link_ = std::move(link); }
    [[nodiscard]] const std::shared_ptr<schedule_link>& link() const noexcept { return link_; }
    [[nodiscard]] std::unique_ptr<blocking_queue<task>> fresh() const override;
    void set_remove_on_cancel(bool on) noexcept { remove_on_cancel_.store(on); }
    [[nodiscard]] bool remove_on_cancel() const noexcept { return remove_on_cancel_.load(); }

    /// From now on, the queue wakes the waiting takers when the last timer goes. Removes the timers
    /// that must not run any more: periodic ones and those not due, as the caller says, and
    /// cancelled ones. Returns them linked by after(); the caller owns their rights to run.
    [[nodiscard]] timer_ref close_down(at_shutdown delayed, at_shutdown periodic) noexcept;

    // ---- For a timer in a queue, which it finds through its gate
    static void remove_cancelled(timer& t) noexcept;
    /// Removes the timer, due or not. Returns an empty task if it is not in the queue of `pool`.
    [[nodiscard]] static task take(timer& t, const void* pool);
    /// The same for a waiter that runs the task at once. Returns an empty task also if the timer is
    /// periodic or not due.
    [[nodiscard]] static task take_if_due(timer& t, const void* pool);
    [[nodiscard]] static std::chrono::nanoseconds delay_of(const timer& t);
    /// The pool of the queue that holds the timer, and whether it is due by that queue's clock.
    [[nodiscard]] static future_link::place place_of(const timer& t);

protected:
    bool try_push(task& x) override;
    std::optional<task> try_pop() override;
    std::vector<task> extract_if(function_ref<bool(const task&)> wanted) override;
    void visit(function_ref<bool(const task&)> more) const override;

private:
    // While timers for a time of day exist, the leader compares the clocks every wall_check. It
    // moves these timers if the clocks have drifted apart by more than wall_tolerance.
    static constexpr std::chrono::nanoseconds wall_check = std::chrono::seconds{1};
    static constexpr std::chrono::nanoseconds wall_tolerance = std::chrono::milliseconds{1};

    struct source;  // of due_waiters

    void time_changed() noexcept override;

    void push_timer(timer_runner& runner);
    void push_carried(task& x);
    void put_in(timer& t) SPOOL_REQUIRES(mutex_);
    void take_out(timer_ref t) noexcept SPOOL_REQUIRES(mutex_);
    [[nodiscard]] task take_found(timer& t);
    void was_taken_out(timer_ref t) noexcept SPOOL_REQUIRES(mutex_);
    bool take_due(timer_ref& due) SPOOL_REQUIRES(mutex_);
    [[nodiscard]] bool is_due(const timer& t, due_time now) const noexcept;
    [[nodiscard]] bool is_due(timer_ref t, due_time now) const noexcept;
    [[nodiscard]] std::chrono::nanoseconds wall_offset() const noexcept;
    void follow_wall_clock(std::chrono::nanoseconds tolerance) SPOOL_REQUIRES(mutex_);
    void tell_if_empty() noexcept SPOOL_REQUIRES(mutex_);

    const std::shared_ptr<clock_source> clock_;  // null: the real clocks
    const void* pool_ = nullptr;
    std::shared_ptr<schedule_link> link_;
    std::atomic<bool> remove_on_cancel_{true};
    timer_gate& gate_;
    mutex& mutex_;  // the gate's; guards everything below and every waiter's note
    timer_wheel wheel_ SPOOL_GUARDED_BY(mutex_);
    due_waiters waiters_ SPOOL_GUARDED_BY(mutex_);
    // How many timers are for a time of day, and the clock offset by which they were placed.
    std::size_t at_wall_time_ SPOOL_GUARDED_BY(mutex_) = 0;
    std::chrono::nanoseconds offset_ SPOOL_GUARDED_BY(mutex_){0};
    // The clock reported a change: the next look follows the time of day exactly.
    bool told_of_change_ SPOOL_GUARDED_BY(mutex_) = false;
    bool closing_ SPOOL_GUARDED_BY(mutex_) = false;
};

}  // namespace spool::inline v1::detail
