// delay_queue: no element comes out before its due time.
#pragma once

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
#include "spool/queue/blocking_queue.hpp"
#include "spool/queue/detail/due_waiters.hpp"
#include "spool/queue/detail/parked.hpp"
#include "spool/queue/detail/stable_heap.hpp"

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
/// limit: an idle pool wakes one thread per element. due_waiters has the protocol. Elements must
/// move without throwing. The queue frees memory after a burst. See blocking_queue for the rest.
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
        const wait_result how =
            detail::wait_until_due(mutex_, &waiters_, source{*this, head}, limits, give_up);
        if (how == wait_result::ready) {
            x.emplace(std::move(*head));
        }
        return how;
    }

    void wake_consumers() noexcept override {
        const detail::lock_guard lock{mutex_};
        waiters_.wake_all();
    }

protected:
    bool try_push(T& x) override {
        const due_time due = key_of(x);
        detail::loan<T> added{x};  // before the lock: see parked
        const detail::lock_guard lock{mutex_};
        heap_.push(added, due);
        waiters_.element_added(due);
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

    // What a waiting taker needs of the queue, with the mutex held; see due_waiters.
    struct source {
        delay_queue& queue;
        element& x;

        bool try_take() {
            queue.mutex_.assert_held();
            return queue.take_due(x);
        }
        [[nodiscard]] bool empty() const noexcept {
            queue.mutex_.assert_held();
            return queue.heap_.empty();
        }
        [[nodiscard]] due_time next_look() const noexcept {
            queue.mutex_.assert_held();
            return queue.heap_.first_key();
        }
        [[nodiscard]] static deadline sleep_limit(due_time at) noexcept { return deadline::at(at); }
        static wait_result sleep(function_ref<wait_result()> until_due) { return until_due(); }
    };

    static DueOf require_not_null(DueOf due_of) {
        if (detail::is_empty_callable(due_of)) {
            detail::throw_empty_callable("delay_queue");
        }
        return due_of;
    }

    // Needs no lock: reads only DueOf, which never changes.
    [[nodiscard]] due_time key_of(const T& x) const SPOOL_UNCHECKED_LOCKS { return heap_.key_of(x); }

    bool take_due(element& x) SPOOL_REQUIRES(mutex_) {
        if (heap_.empty() || !deadline::at(heap_.first_key()).expired()) {
            return false;
        }
        heap_.pop(x);
        return true;
    }

    mutable detail::mutex mutex_;  // guards everything below, and every waiter's note
    detail::stable_heap<T, order> heap_ SPOOL_GUARDED_BY(mutex_);
    detail::due_waiters waiters_ SPOOL_GUARDED_BY(mutex_);
};

}  // namespace spool::inline v1
