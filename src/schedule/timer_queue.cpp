#include "schedule/timer_queue.hpp"

#include <algorithm>
#include <utility>

#include "schedule/precise_sleep.hpp"
#include "schedule/times.hpp"

namespace spool::inline v1::detail {
namespace {

using std::chrono::nanoseconds;

// Shows the task of a timer while the timer stays in the queue.
class shown_task {
public:
    explicit shown_task(timer_ref t) noexcept : carried_(t.as_carried()) {
        if (carried_ == nullptr) {
            own_ = timer_runner{*t.as_timer()};
        }
    }
    shown_task(const shown_task&) = delete;
    shown_task& operator=(const shown_task&) = delete;
    ~shown_task() {
        if (auto* runner = own_.target<timer_runner>()) {
            runner->release();
        }
    }
    [[nodiscard]] const task& get() const noexcept { return carried_ != nullptr ? carried_->work : own_; }

private:
    const carried_task* carried_;
    task own_;
};

}  // namespace

timer_queue::timer_queue(std::shared_ptr<clock_source> clock)
    : clock_(std::move(clock)), gate_(timer_gate::open(*this)), mutex_(gate_.mutex), wheel_(now()) {
    if (clock_ != nullptr) {
        try {
            clock_->add_listener(*this);
        } catch (...) {
            gate_.close();
            throw;
        }
    }
}

timer_queue::~timer_queue() {
    if (clock_ != nullptr) {
        clock_->remove_listener(*this);
    }
    timer_ref left;
    {
        const lock_guard lock{mutex_};
        left = wheel_.take_out([](timer_ref) { return true; });
        for (timer_ref t = left; t; t = t.after()) {
            was_taken_out(t);
        }
    }
    gate_.close();
    while (left) {
        const timer_ref next = left.after();
        static_cast<void>(left.take_task());  // destroyed, so its future becomes cancelled
        left = next;
    }
}

std::unique_ptr<blocking_queue<task>> timer_queue::fresh() const {
    auto queue = std::make_unique<timer_queue>(clock_);
    queue->set_remove_on_cancel(remove_on_cancel());
    queue->set_link(link_);  // until the new pool sets its own
    return queue;
}

due_time timer_queue::after(nanoseconds delay) const noexcept {
    return sum(now(), std::max(delay, nanoseconds::zero()));
}

std::size_t timer_queue::size() const {
    const lock_guard lock{mutex_};
    return wheel_.size();
}

// ---- In

bool timer_queue::try_push(task& x) {
    if (auto* const runner = x.target<timer_runner>()) {
        push_timer(*runner);
    } else {
        push_carried(x);
    }
    x = nullptr;
    return true;
}

void timer_queue::push_timer(timer_runner& runner) {
    timer& t = runner.state();
    bool cancelled = false;
    {
        const lock_guard lock{mutex_};
        put_in(t);
        runner.release();
        // A series may be cancelled while it is requeued. Either this thread sees that here, or
        // cancel() finds the timer in the queue. For cancel() changes the word first and then looks
        // for the gate, while put_in() names the gate before this look at the word.
        cancelled = remove_on_cancel() && t.now() != phase::idle;
        if (cancelled) {
            take_out(t);
            tell_if_empty();
        }
    }
    if (cancelled) {
        t.drop_reference();
    }
}

void timer_queue::put_in(timer& t) {
    const bool at_wall_time = t.kind() == timer_kind::at_wall_time;
    if (at_wall_time) {
        if (at_wall_time_ == 0) {
            offset_ = wall_offset();
        }
        // One offset for all timers, so that equal times of day stay equal.
        t.stamp = met(t.wall_time(), offset_);
    }
    wheel_.insert(t);
    t.set_owner(future_owner::listed(&gate_));
    waiters_.element_added(t.stamp);
    if (at_wall_time && at_wall_time_++ == 0) {
        waiters_.call_one();  // the leader must check the time of day from now on
    }
}

void timer_queue::push_carried(task& x) {
    auto carried = std::make_unique<carried_task>();
    carried->due = std::max(x.due(), now());
    carried->work = std::move(x);  // not under the lock: moving a task calls user code
    try {
        const lock_guard lock{mutex_};
        wheel_.insert(*carried);
        waiters_.element_added(carried->due);
    } catch (...) {
        x = std::move(carried->work);
        throw;
    }
    static_cast<void>(carried.release());  // the queue owns it now
}

// ---- Out

void timer_queue::take_out(timer_ref t) noexcept {
    wheel_.erase(t);
    was_taken_out(t);
}

void timer_queue::was_taken_out(timer_ref t) noexcept {
    if (timer* const state = t.as_timer()) {
        state->set_owner(future_owner::pool(pool_));
        if (at_wall_time_ != 0 && state->kind() == timer_kind::at_wall_time) {
            --at_wall_time_;
        }
    }
}

bool timer_queue::take_due(timer_ref& due) {
    if (wheel_.size() == 0) {
        return false;
    }
    const due_time now_ = now();
    if (at_wall_time_ != 0) {
        follow_wall_clock(std::exchange(told_of_change_, false) ? nanoseconds::zero() : wall_tolerance);
    }
    wheel_.advance(now_);
    timer_ref first = wheel_.first();
    if (first && first.due() <= now_ && !is_due(first, now_)) {
        // The time of day runs a little slower than the steady clock just now. Timers for a time of
        // day wait for the difference.
        follow_wall_clock(nanoseconds{-1});
        first = wheel_.first();
    }
    if (!first || first.due() > now_ || !is_due(first, now_)) {
        return false;
    }
    take_out(first);
    due = first;
    tell_if_empty();
    return true;
}

std::optional<task> timer_queue::try_pop() {
    timer_ref due;
    {
        const lock_guard lock{mutex_};
        if (!take_due(due)) {
            return std::nullopt;
        }
    }
    return due.take_task();  // not under the lock: moving a task calls user code
}

// Called with the mutex held, but for sleep().
struct timer_queue::source {
    timer_queue& queue;
    timer_ref& due;

    bool try_take() {
        queue.mutex_.assert_held();
        return queue.take_due(due);
    }
    [[nodiscard]] bool empty() const noexcept {
        queue.mutex_.assert_held();
        return queue.wheel_.size() == 0;
    }
    [[nodiscard]] due_time next_look() const noexcept {
        queue.mutex_.assert_held();
        return queue.wheel_.quiet_until();
    }
    [[nodiscard]] deadline sleep_limit(due_time at) const noexcept {
        queue.mutex_.assert_held();
        const due_time until = queue.at_wall_time_ == 0 ? at : std::min(at, sum(queue.now(), wall_check));
        return queue.clock_ != nullptr ? queue.clock_->sleep_limit(until) : deadline::at(until);
    }
    static wait_result sleep(function_ref<wait_result()> until_due) {
        const precise_sleep precise;
        return until_due();
    }
};

wait_result timer_queue::pop_until(std::optional<task>& x, const wait_limits& limits,
                                   function_ref<bool()> give_up) {
    x.reset();
    timer_ref due;
    const wait_result how = wait_until_due(mutex_, &waiters_, source{*this, due}, limits, give_up);
    if (how == wait_result::ready) {
        x.emplace(due.take_task());  // not under the lock: moving a task calls user code
    }
    return how;
}

void timer_queue::wake_consumers() noexcept {
    const lock_guard lock{mutex_};
    waiters_.wake_all();
}

void timer_queue::time_changed() noexcept {
    if (is_abandoned(&gate_)) {
        return;  // the clock of the parent still lists its queue
    }
    const lock_guard lock{mutex_};
    told_of_change_ = true;
    waiters_.call_one();
}

void timer_queue::tell_if_empty() noexcept {
    if (closing_ && wheel_.size() == 0) {
        waiters_.wake_all();  // pair (M): the takers' give-up predicates check the size
    }
}

// ---- Everything in it

std::vector<task> timer_queue::extract_if(function_ref<bool(const task&)> wanted) {
    std::vector<timer_ref> chosen;
    std::vector<task> out;
    {
        const lock_guard lock{mutex_};
        if (at_wall_time_ != 0) {
            // `wanted` may compare due times, and a clock change may not have been followed yet
            follow_wall_clock(wall_tolerance);
        }
        wheel_.visit_in_order([&](timer_ref t) {
            if (wanted(shown_task{t}.get())) {
                chosen.push_back(t);
            }
        });
        out.reserve(chosen.size());
        for (const timer_ref t : chosen) {
            take_out(t);
        }
        tell_if_empty();
    }
    for (const timer_ref t : chosen) {  // not under the lock: moving a task calls user code
        out.push_back(t.take_task());
    }
    return out;
}

void timer_queue::visit(function_ref<bool(const task&)> more) const {
    const lock_guard lock{mutex_};
    bool going_on = true;
    wheel_.visit_in_order([&](timer_ref t) { going_on = going_on && more(shown_task{t}.get()); });
}

timer_ref timer_queue::close_down(at_shutdown delayed, at_shutdown periodic) noexcept {
    const lock_guard lock{mutex_};
    closing_ = true;
    if (at_wall_time_ != 0) {
        // Timers that are due by the time of day then come out at once.
        follow_wall_clock(nanoseconds::zero());
    }
    const due_time now_ = now();
    const timer_ref doomed = wheel_.take_out([&](timer_ref t) {
        const timer* const state = t.as_timer();
        const bool is_periodic = state != nullptr && state->kind() == timer_kind::periodic;
        const at_shutdown how = is_periodic ? periodic : is_due(t, now_) ? at_shutdown::keep : delayed;
        return how == at_shutdown::cancel || (state != nullptr && state->is_done());
    });
    for (timer_ref t = doomed; t; t = t.after()) {
        was_taken_out(t);
    }
    tell_if_empty();
    return doomed;
}

}  // namespace spool::inline v1::detail
