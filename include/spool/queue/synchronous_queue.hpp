// synchronous_queue: no storage; a producer hands each element directly to a consumer.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "spool/detail/mutex.hpp"
#include "spool/queue/blocking_queue.hpp"
#include "spool/queue/detail/parked.hpp"
#include "spool/queue/detail/waiting_list.hpp"

namespace spool::inline v1 {

/// Which waiter is served first.
enum class fairness {
    unfair,  ///< the newest: its thread is the warmest, and idle threads can time out
    fair,    ///< the one that has waited longest
};

/// A taker waits for a giver, and a giver for a taker. offer() succeeds only if a taker waits,
/// poll() only if a giver waits. Size and capacity are always 0, and there is nothing to visit or
/// to remove. See blocking_queue for the rest.
///
/// Elements must move without throwing. Waiting to take allocates nothing. Nor does giving an
/// element that is trivially copyable, or a task whose callable is (submit() makes such tasks). Any
/// other element travels in a block of memory.
///
/// Each waiting thread has a waiter with its own event in one of two lists. Its partner fills (or
/// empties) the waiter and wakes only that thread, after the unlock (where there are futexes), so
/// that the waiter need not wait for the lock. If a waiter is served at the moment its wait ends
/// otherwise, it counts as served: no element is lost.
template <class T>
class synchronous_queue final : public blocking_queue<T> {
public:
    synchronous_queue() = default;
    explicit synchronous_queue(fairness policy) : fairness_(policy) {}

    [[nodiscard]] std::size_t size() const override { return 0; }
    [[nodiscard]] std::size_t capacity() const override { return 0; }
    [[nodiscard]] std::unique_ptr<blocking_queue<T>> fresh() const override {
        return std::make_unique<synchronous_queue>(fairness_);
    }

    wait_result push_until(T& x, const wait_limits& limits,
                           function_ref<bool()> give_up = blocking_queue<T>::never_give_up) override {
        detail::loan<T> element{x};  // before the lock: see parked
        giver me{{}, {}, &element};
        {
            detail::late_wake wake;
            const detail::lock_guard lock{mutex_};
            if (try_hand_to_taker(element, wake)) {
                return wait_result::ready;
            }
            givers_.push_back(me);
        }
        return detail::wait_to_be_served(mutex_, &givers_, me, me, limits, give_up);
    }

    wait_result pop_until(std::optional<T>& x, const wait_limits& limits,
                          function_ref<bool()> give_up = blocking_queue<T>::never_give_up) override {
        x.reset();
        detail::parked<T> element;  // unpacked after the unlock
        const wait_result how = wait_for(element, limits, give_up);
        if (how == wait_result::ready) {
            x.emplace(std::move(*element));
        }
        return how;
    }

    void wake_consumers() noexcept override {
        const detail::lock_guard lock{mutex_};
        takers_.wake_all();
    }
    void wake_producers() noexcept override {
        const detail::lock_guard lock{mutex_};
        givers_.wake_all();
    }

protected:
    bool try_push(T& x) override {
        if (detail::parked<T>::can_park_in_place(x)) {  // then parking it calls nothing
            detail::late_wake wake;
            const detail::lock_guard lock{mutex_};
            return try_hand_to_taker(x, wake);
        }
        if (!has_taker()) {
            return false;
        }
        detail::loan<T> element{x};
        detail::late_wake wake;
        const detail::lock_guard lock{mutex_};
        return try_hand_to_taker(element, wake);
    }
    std::optional<T> try_pop() override {
        detail::parked<T> element;
        {
            detail::late_wake wake;
            const detail::lock_guard lock{mutex_};
            if (!try_take_from_giver(element, wake)) {
                return std::nullopt;
            }
        }
        return std::optional<T>{std::move(*element)};
    }
    std::vector<T> extract_if(function_ref<bool(const T&)>) override { return {}; }

private:
    template <class Element>
    struct waiter : detail::waiting_links, detail::partner_waiter {
        Element* element;  // where the element is, or goes
    };
    using giver = waiter<detail::loan<T>>;
    using taker = waiter<detail::parked<T>>;

    wait_result wait_for(detail::parked<T>& element, const wait_limits& limits,
                         function_ref<bool()> give_up) {
        taker me{{}, {}, &element};
        {
            detail::late_wake wake;
            const detail::lock_guard lock{mutex_};
            if (try_take_from_giver(element, wake)) {
                return wait_result::ready;
            }
            takers_.push_back(me);
        }
        return detail::wait_to_be_served(mutex_, &takers_, me, me, limits, give_up);
    }
    [[nodiscard]] bool has_taker() {
        const detail::lock_guard lock{mutex_};
        return !takers_.empty();
    }

    template <class Waiter>
    Waiter& first_of(detail::waiting_list<Waiter>& waiting) const noexcept {
        return fairness_ == fairness::fair ? waiting.front() : waiting.back();
    }
    static detail::parked<T> park(T& x) { return detail::parked<T>{x}; }
    static detail::parked<T> park(detail::loan<T>& x) noexcept { return x.release(); }
    // The caller performs the wake-up after the unlock.
    template <class Element>
    bool try_hand_to_taker(Element& x, detail::late_wake& wake) noexcept SPOOL_REQUIRES(mutex_) {
        if (takers_.empty()) {
            return false;
        }
        taker& first = first_of(takers_);
        *first.element = park(x);
        wake = detail::serve(takers_, first, first);
        return true;
    }
    bool try_take_from_giver(detail::parked<T>& x, detail::late_wake& wake) noexcept SPOOL_REQUIRES(mutex_) {
        if (givers_.empty()) {
            return false;
        }
        giver& first = first_of(givers_);
        x = first.element->release();
        wake = detail::serve(givers_, first, first);
        return true;
    }

    const fairness fairness_ = fairness::unfair;
    // Guards everything below, and every waiter in the lists; pair (M) of every wait.
    detail::mutex mutex_;
    detail::waiting_list<giver> givers_ SPOOL_GUARDED_BY(mutex_);
    detail::waiting_list<taker> takers_ SPOOL_GUARDED_BY(mutex_);
};

}  // namespace spool::inline v1
