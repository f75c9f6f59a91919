// delay_queue: no element comes out before its due time.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include "spool/base/callable.hpp"
#include "spool/detail/mutex.hpp"
#include "spool/detail/pause_point.hpp"
#include "spool/queue/blocking_queue.hpp"
#include "spool/queue/detail/parked.hpp"
#include "spool/queue/detail/stable_heap.hpp"
#include "spool/queue/detail/waiting_list.hpp"

namespace spool::inline v1 {

namespace detail {

struct due_of_member {
    template <class T>
    [[nodiscard]] due_time operator()(const T& x) const {
        return x.due();
    }
};

template <class T, class DueOf>
struct earlier_first : order_by_key {
    using key_type = due_time;
    explicit earlier_first(DueOf f) : due_of(std::move(f)) {}
    [[nodiscard]] due_time key(const T& x) const { return due_of(x); }
    bool operator()(due_time a, due_time b) const noexcept { return a < b; }
    DueOf due_of;
};

}  // namespace detail

/// Unbounded, ordered by due time on the steady clock; elements with equal due times come out in
/// the order they were added. poll, take, poll_for and drain_to return only elements that are due.
/// All other members see every element, due or not, in order of due time: size, peek, for_each,
/// contains, remove_if, take_if, clear.
///
///     spool::delay_queue<message> outbox;          // by message::due()
///     outbox.put(message{"later", steady_clock::now() + 5s});
///     send(outbox.take());                         // waits until then
///
/// `DueOf` returns the due time of an element; by default `x.due()`, as task has it. The queue
/// calls it once, when the element is added, on the adding thread and without a lock. If it throws,
/// nothing has changed. due_time::min() is due at once, due_time::max() never.
///
/// Of several waiting takers, one sleeps until the first element is due and the rest sleep without
/// limit: an idle pool wakes one thread per element. Elements must move without throwing. The queue
/// frees memory after a burst. See blocking_queue for the rest.
///
/// HOW TAKERS WAIT
///
/// Each taker has a note in waiting_, in the order of arrival. One taker may be the leader: it
/// sleeps until the head's due time, or until its own limit if that is earlier. A taker that is
/// `called` has been woken to look again. Whenever the mutex is free, this invariant holds:
///
///     (I)  if there are elements and waiting takers, then there is a leader that is called, or
///          sleeps no longer than until the head is due; or another taker is called.
///
/// So no element stays unseen after its due time. How each operation keeps (I):
///   - push of a new head:        calls the leader, whose sleep is now too long; without a leader,
///                                calls the first taker.
///   - push behind the head:      (I) held before, and the head is the same.
///   - any push:                  if the leader should have looked more than wake_timeout ago, it
///                                loses the lead, and the next taker is called. A called taker that
///                                is as late is skipped. So a taker without a CPU delays the other
///                                takers only until the next push after that time.
///   - pop, removal of the head:  the next head is due later, so the leader wakes too early and
///                                looks again.
///   - a taker looks:             it was called, or its sleep is over. It takes what is due.
///                                Otherwise it takes the lead if there is no leader.
///   - a taker leaves, in any     it gives up the lead. If elements are left and there is no
///     way:                       leader, it calls the first taker. A taker that leaves with an
///                                element does so too: when several elements are due at once,
///                                each taker wakes the next before it runs its own.
/// Takers are called under the mutex, and read `called` under it: pair (M) of event_count.
template <class T, class DueOf = detail::due_of_member>
class delay_queue final : public blocking_queue<T> {
public:
    delay_queue() : delay_queue(DueOf{}) {}
    /// \throws std::invalid_argument if `due_of` is empty (a null pointer, an empty std::function).
    explicit delay_queue(DueOf due_of) : heap_(order{require_not_null(std::move(due_of))}) {}
    /// Holds the elements of a range. Moves those of an rvalue range.
    template <std::ranges::input_range Range>
        requires(!std::is_convertible_v<Range, DueOf> &&
                 !std::derived_from<std::remove_cvref_t<Range>, delay_queue>)
    explicit delay_queue(Range&& elements, DueOf due_of = {}) : delay_queue(std::move(due_of)) {
        this->offer_all(std::forward<Range>(elements));
    }

    /// All elements, due or not.
    [[nodiscard]] std::size_t size() const override {
        const detail::lock_guard lock{mutex_};
        return heap_.size();
    }
    // Takes no lock: reads only constants.
    [[nodiscard]] std::unique_ptr<blocking_queue<T>> fresh() const override SPOOL_UNCHECKED_LOCKS {
        if constexpr (!std::copy_constructible<DueOf>) {
            return nullptr;
        } else {
            return std::make_unique<delay_queue>(heap_.order().due_of);
        }
    }
    /// When the first element is due, or was due; nothing if the queue is empty.
    [[nodiscard]] std::optional<due_time> next_due() const {
        const detail::lock_guard lock{mutex_};
        return heap_.empty() ? std::nullopt : std::optional{heap_.first_key()};
    }

    wait_result pop_until(std::optional<T>& x, const wait_limits& limits,
                          function_ref<bool()> give_up = blocking_queue<T>::never_give_up) override {
        x.reset();
        element head;  // unpacked after the lock: see parked
        const wait_result how = wait_for(head, limits, give_up);
        if (how == wait_result::ready) {
            x.emplace(std::move(*head));
        }
        return how;
    }

    void wake_consumers() noexcept override {
        const detail::lock_guard lock{mutex_};
        waiting_.wake_all();
    }

protected:
    bool try_push(T& x) override {
        const due_time due = key_of(x);
        detail::loan<T> added{x};  // before the lock: see parked
        const detail::lock_guard lock{mutex_};
        const bool is_new_head = heap_.push(added, due);
        lead_.take_from_stuck();
        if (lead_.holder() == nullptr) {
            call_next(waiting_);
        } else if (is_new_head) {
            lead_.holder()->call();
        }
        return true;
    }
    std::optional<T> try_pop() override {
        element head;
        {
            const detail::lock_guard lock{mutex_};
            if (!take_due(head)) {
                return std::nullopt;
            }
        }
        return std::optional<T>{std::move(*head)};
    }
    std::vector<T> extract_if(function_ref<bool(const T&)> wanted) override {
        std::vector<T> out;
        std::vector<element> taken;
        {
            const detail::lock_guard lock{mutex_};
            taken = heap_.extract_if(wanted, out);
        }
        detail::unpack(taken, out);
        return out;
    }
    void visit(function_ref<bool(const T&)> visitor) const override {
        const detail::lock_guard lock{mutex_};
        heap_.visit(visitor);
    }

private:
    using order = detail::earlier_first<T, DueOf>;
    using element = detail::parked<T>;
    using taker = detail::timed_taker;

    wait_result wait_for(element& x, const wait_limits& limits, function_ref<bool()> give_up) {
        taker me;
        {
            const detail::lock_guard lock{mutex_};
            if (take_due(x)) {
                return wait_result::ready;
            }
            waiting_.push_back(me);
        }
        try {
            for (;;) {
                const std::optional<deadline> until = look(me, x, limits.until);
                if (!until.has_value()) {
                    return wait_result::ready;
                }
                SPOOL_PAUSE_POINT("delay_queue: about to sleep");
                const auto called = [&] {
                    const detail::lock_guard lock{mutex_};
                    return me.called;
                };
                const wait_result how =
                    me.event.await(called, {.until = *until, .stop = limits.stop}, give_up);
                const bool head_is_due = how == wait_result::timed_out && *until < limits.until;
                if (how != wait_result::ready && !head_is_due) {
                    SPOOL_PAUSE_POINT("delay_queue: about to leave");
                    return look_a_last_time(me, x) ? wait_result::ready : how;
                }
            }
        } catch (...) {  // from give_up
            const detail::lock_guard lock{mutex_};
            take_leave(me);
            throw;
        }
    }

    static DueOf require_not_null(DueOf due_of) {
        if (detail::is_empty_callable(due_of)) {
            detail::throw_empty_callable("delay_queue");
        }
        return due_of;
    }

    // Needs no lock: reads only DueOf, which never changes.
    [[nodiscard]] due_time key_of(const T& x) const SPOOL_UNCHECKED_LOCKS { return heap_.key_of(x); }

    // Takes an element that is due, and leaves. Otherwise returns how long to sleep, as the leader
    // or behind one.
    std::optional<deadline> look(taker& me, element& x, deadline until) {
        const detail::lock_guard lock{mutex_};
        me.called = false;
        if (take_due(x)) {
            take_leave(me);
            return std::nullopt;
        }
        lead_.give_up(me);
        if (lead_.holder() == nullptr && !heap_.empty()) {
            until = std::min(until, deadline::at(heap_.first_key()));
            lead_.take(me, until);
        }
        return until;
    }
    // An element that is due wins over every other outcome.
    bool look_a_last_time(taker& me, element& x) {
        const detail::lock_guard lock{mutex_};
        const bool taken = take_due(x);
        take_leave(me);
        return taken;
    }

    bool take_due(element& x) SPOOL_REQUIRES(mutex_) {
        if (heap_.empty() || !deadline::at(heap_.first_key()).expired()) {
            return false;
        }
        heap_.pop(x);
        return true;
    }
    void take_leave(taker& me) noexcept SPOOL_REQUIRES(mutex_) {
        waiting_.remove(me);
        lead_.give_up(me);
        if (lead_.holder() == nullptr && !heap_.empty()) {
            call_next(waiting_);
        }
    }

    mutable detail::mutex mutex_;  // guards everything below, and every note
    detail::stable_heap<T, order> heap_ SPOOL_GUARDED_BY(mutex_);
    detail::waiting_list<taker> waiting_ SPOOL_GUARDED_BY(mutex_);
    detail::lead lead_ SPOOL_GUARDED_BY(mutex_);
};

}  // namespace spool::inline v1
