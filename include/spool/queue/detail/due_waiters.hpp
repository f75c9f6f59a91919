// due_waiters: the consumers that wait for an element to become due. For delay_queue and for the
// timer queue of the scheduled pool.
//
// THE LEADER PROTOCOL
//
// Each waiting consumer has a note in a list, in the order of arrival. One of them may be the
// leader: it sleeps until the head is due, or until its own limit if that is earlier. The others
// sleep without a due time. So an idle pool wakes one thread per element. A waiter that is `called`
// has been woken to look again. Whenever the mutex is free, this invariant holds:
//
//     (I)  if there are elements and waiters, then there is a leader that is called, or sleeps no
//          longer than until the head is due; or another waiter is called.
//
// So no element stays unseen after its due time. How each operation keeps (I):
//   - an element is added:       if it is due before the leader wakes, calls the leader. Without a
//                                leader, calls the first waiter. A later element needs no call.
//   - any addition:              if the leader should have looked more than wake_timeout ago, it
//                                loses the lead, and the next waiter is called. A called waiter
//                                that is as late is skipped. So a waiter without a CPU delays the
//                                others only until the next addition after that time.
//   - an element is removed:     the next head is due later, so the leader wakes too early and
//                                looks again.
//   - a waiter looks:            it was called, or its sleep is over. It takes what is due.
//                                Otherwise it takes the lead if there is no leader.
//   - a waiter leaves, in any    it gives up the lead. If elements are left and there is no leader,
//     way:                       it calls the first waiter. A waiter that leaves with an element
//                                does so too: when several elements are due at once, each waiter
//                                wakes the next before it runs its own.
//
// Waiters are called under the queue's mutex, and read `called` under it: pair (M) of event_count.
#pragma once

#include <algorithm>
#include <optional>

#include "spool/base/deadline.hpp"
#include "spool/base/function_ref.hpp"
#include "spool/base/task.hpp"
#include "spool/detail/mutex.hpp"
#include "spool/detail/pause_point.hpp"
#include "spool/detail/wake_age.hpp"
#include "spool/queue/detail/waiting_list.hpp"
#include "spool/sync/event_count.hpp"

namespace spool::inline v1::detail {

/// The note of a waiting consumer, on its own stack. The queue's mutex guards it.
struct due_waiter : waiting_links {
    bool called = false;                  // woken to look again, and has not looked yet
    deadline::time_point called_since{};  // if called
    event_count event{};

    void call() noexcept {
        if (!called) {
            call_since(deadline::clock::now());
        }
        event.notify_all();  // pair (M): the queue's mutex
    }
    void call_since(deadline::time_point when) noexcept {
        called = true;
        called_since = when;
    }
    /// Called so long ago that the thread seems to get no CPU.
    [[nodiscard]] bool is_stuck() const noexcept { return called && is_stuck_since(called_since); }
};

/// Not synchronised: the queue's mutex guards it. wait_until_due() locks that mutex itself.
///
/// Source: what a waiter needs of its queue. All but sleep() are called with the mutex held.
///     bool try_take()                      takes an element that is due
///     bool empty() const
///     due_time next_look() const           when the leader must look again: no later than when the
///                                          head is due. Precondition: not empty
///     deadline sleep_limit(due_time) const how long a thread may sleep that must look at that time
///     wait_result sleep(f)                 returns f(), which sleeps until an element is due
class due_waiters {
public:
    /// A producer has added an element.
    void element_added(due_time due) noexcept {
        take_lead_from_stuck();
        if (leader_ == nullptr) {
            call_next();
        } else if (due < leader_looks_at_) {
            leader_looks_at_ = due;  // one call is enough: later elements do not concern the leader
            leader_->call();
        }
    }
    /// Calls the leader, or without a leader the next waiter.
    void call_one() noexcept {
        if (leader_ != nullptr) {
            leader_->call();
        } else {
            call_next();
        }
    }
    /// Makes every waiter ask its give-up predicate again.
    void wake_all() const noexcept { waiting_.wake_all(); }

private:
    template <class Source>
    friend wait_result wait_until_due(mutex& guard, due_waiters* waiters, Source source,
                                      const wait_limits& limits, function_ref<bool()> give_up);

    void enter(due_waiter& me) noexcept { waiting_.push_back(me); }

    // Takes a due element, leaves and returns nothing. Otherwise returns how long to sleep, as the
    // leader or behind one.
    template <class Source>
    [[nodiscard]] std::optional<deadline> look(due_waiter& me, Source& source, deadline until) {
        me.called = false;
        if (source.try_take()) {
            leave(me, source);
            return std::nullopt;
        }
        give_up_lead(me);
        if (leader_ == nullptr && !source.empty()) {
            leader_looks_at_ = source.next_look();
            until = std::min(until, source.sleep_limit(leader_looks_at_));
            leader_ = &me;
            leader_sleeps_until_ = until;
        }
        return until;
    }
    template <class Source>
    void leave(due_waiter& me, const Source& source) noexcept {
        waiting_.remove(me);
        give_up_lead(me);
        if (leader_ == nullptr && !source.empty()) {
            call_next();
        }
    }

    // Calls the first waiter, unless a called waiter is already on its way. Skips called waiters
    // that are stuck.
    void call_next() const noexcept {
        waiting_.visit([](due_waiter& w) {
            if (w.called) {
                return w.is_stuck();
            }
            w.call();
            return false;
        });
    }
    void give_up_lead(const due_waiter& me) noexcept {
        if (leader_ == &me) {
            leader_ = nullptr;
        }
    }
    // Takes the lead from a waiter that should have looked long ago, because it was called or its
    // sleep is over. That waiter counts as called, since it will look once it gets a CPU.
    void take_lead_from_stuck() noexcept {
        if (leader_ == nullptr) {
            return;
        }
        if (!leader_->called && is_stuck_since(leader_sleeps_until_.when())) {
            leader_->call_since(leader_sleeps_until_.when());
        }
        if (leader_->is_stuck()) {
            leader_ = nullptr;
        }
    }

    waiting_list<due_waiter> waiting_;
    due_waiter* leader_ = nullptr;  // one of waiting_, or null
    due_time leader_looks_at_{};    // no later than this, by the queue's clock
    deadline leader_sleeps_until_ = deadline::never();
};

/// Waits until the source gives an element. An element that is due wins over every other result.
/// `waiters` is passed by address, because the mutex is locked only here.
/// \throws what give_up() and the source throw
template <class Source>
[[nodiscard]] wait_result wait_until_due(mutex& guard, due_waiters* waiters, Source source,
                                         const wait_limits& limits, function_ref<bool()> give_up) {
    due_waiter me;
    {
        const lock_guard lock{guard};
        if (source.try_take()) {
            return wait_result::ready;
        }
        waiters->enter(me);
    }
    const auto look = [&] {
        const lock_guard lock{guard};
        return waiters->look(me, source, limits.until);
    };
    const auto look_a_last_time = [&] {
        const lock_guard lock{guard};
        const bool taken = source.try_take();
        waiters->leave(me, source);
        return taken;
    };
    const auto called = [&] {
        const lock_guard lock{guard};
        return me.called;
    };
    try {
        for (;;) {
            const std::optional<deadline> until = look();
            if (!until.has_value()) {
                return wait_result::ready;
            }
            SPOOL_PAUSE_POINT("due_waiters: about to sleep");
            const auto sleep = [&] {
                return me.event.await(called, {.until = *until, .stop = limits.stop}, give_up);
            };
            const bool leads = *until < limits.until;
            const wait_result how = leads ? source.sleep(sleep) : sleep();
            if (how != wait_result::ready && !(how == wait_result::timed_out && leads)) {
                SPOOL_PAUSE_POINT("due_waiters: about to leave");
                return look_a_last_time() ? wait_result::ready : how;
            }
        }
    } catch (...) {  // from give_up or the source
        const lock_guard lock{guard};
        waiters->leave(me, source);
        throw;
    }
}

}  // namespace spool::inline v1::detail
