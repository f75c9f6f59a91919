// Decides when a periodic task runs again.
#include <algorithm>

#include "schedule/schedule_link.hpp"
#include "schedule/times.hpp"
#include "spool/base/error.hpp"
#include "spool/schedule/detail/scheduled_body.hpp"

namespace spool::inline v1::detail {
namespace {

using std::chrono::nanoseconds;

// The time of the run that follows the run at `grid`.
due_time next_of_rate(due_time grid, nanoseconds period, due_time now, missed_runs missed) noexcept {
    const due_time next = sum(grid, period);
    if (missed == missed_runs::catch_up || next > now) {
        return next;
    }
    const due_time last_missed = grid + (now - grid) / period * period;
    return missed == missed_runs::coalesce ? last_missed : sum(last_missed, period);
}

}  // namespace

series::series(std::shared_ptr<const schedule_link> pool, due_time first, nanoseconds period, repetition how,
               const periodic_options& options)
    : pool_(std::move(pool)),
      grid_(first),
      period_(period),
      repetition_(how),
      missed_(options.missed),
      on_exception_(options.on_exception),
      jitter_(options.jitter),
      random_(next_task_id() * 0x9E3779B97F4A7C15U + 1) {}

series::~series() = default;

due_time series::due() noexcept {
    if (jitter_ == nanoseconds::zero()) {
        return grid_;
    }
    random_ ^= random_ << 13U;  // xorshift: any spread will do
    random_ ^= random_ >> 7U;
    random_ ^= random_ << 17U;
    const auto most = static_cast<std::uint64_t>(jitter_.count());
    const std::uint64_t late =
        most == std::uint64_t(nanoseconds::max().count()) ? random_ >> 1U : random_ % (most + 1);
    return sum(grid_, nanoseconds{static_cast<nanoseconds::rep>(late)});
}

void series::move_on() noexcept {
    const due_time now = pool_->now();
    grid_ = repetition_ == repetition::fixed_delay ? sum(now, period_)
                                                   : next_of_rate(grid_, period_, now, missed_);
}

bool series::run(timer& body) {
    if (!body.run_and_reset()) {
        return false;  // cancelled, or failed
    }
    move_on();
    body.stamp = due();
    task again{timer_runner{body}};  // owns the right to run
    try {
        if (pool_->requeue(again)) {
            return true;  // another thread may already have run and destroyed it
        }
        again.target<timer_runner>()->release();
    } catch (...) {  // no memory to enqueue it: the series must not end silently
        again.target<timer_runner>()->release();
        pool_->report(std::current_exception());
        body.set_exception(std::current_exception());
        return false;
    }
    body.cancel(cancel_mode::let_run);  // the pool takes it no more
    return false;
}

bool series::begin() noexcept {
    runs_.fetch_add(1, std::memory_order_relaxed);  // relaxed, statistic
    return on_exception_ == on_exception::go_on;
}

bool series::is_fatal() const noexcept {
    return pool_->terminates_on_uncaught();
}

void series::failed(const std::exception_ptr& error) noexcept {
    if (is_normal_exit(error, task_scope::current())) {
        return;
    }
    failures_.fetch_add(1, std::memory_order_relaxed);  // relaxed, statistic
    pool_->report(error);
}

timer::run_counts series::counts() const noexcept {
    // relaxed, statistic
    return {runs_.load(std::memory_order_relaxed), failures_.load(std::memory_order_relaxed)};
}

}  // namespace spool::inline v1::detail
