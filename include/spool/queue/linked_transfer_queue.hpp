// linked_transfer_queue: first in, first out; a producer may wait until its element is taken.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <ranges>
#include <stop_token>
#include <type_traits>
#include <utility>
#include <vector>

#include "spool/detail/mutex.hpp"
#include "spool/queue/blocking_queue.hpp"
#include "spool/queue/detail/parked.hpp"
#include "spool/queue/detail/waiting_list.hpp"

namespace spool::inline v1 {

/// Unbounded FIFO. offer and put never wait; transfer waits until a consumer has the element.
///
///     spool::linked_transfer_queue<job> jobs;
///     jobs.put(job{1});                        // a consumer will take it
///     jobs.transfer(job{2});                   // a consumer has taken it
///     if (!jobs.try_transfer(job{3})) { ... }  // no consumer is waiting
///
/// Added and transferred elements come out in the order they came in. An element whose transfer
/// waits is like any other: size() counts it, and taking it out by take, drain_to, take_if,
/// remove_if or clear ends the transfer.
///
/// If consumers wait, an element goes directly to the one that has waited longest, which then no
/// longer counts as waiting. Elements must move without throwing. See blocking_queue for the rest.
///
/// The queue never has both elements and waiting consumers: each thread checks the other side
/// first, under the lock. A waiting consumer, and a producer whose transfer waits, has a waiter on
/// its own stack. Elements travel in nodes, which are filled before the lock is taken and emptied
/// after it is released: no user code but predicates runs under the lock. A withdrawn transfer
/// unlinks its node and moves the element back.
template <class T>
class linked_transfer_queue final : public blocking_queue<T> {
    static_assert(
        std::is_nothrow_move_constructible_v<T>,
        "elements of linked_transfer_queue must move without throwing: else one could be lost on the way");

public:
    linked_transfer_queue() = default;
    /// Holds the elements of a range. Moves those of an rvalue range.
    template <std::ranges::input_range Range>
        requires(!std::derived_from<std::remove_cvref_t<Range>, linked_transfer_queue>)
    // Delegates: if an element is refused, the destructor frees the elements added before.
    explicit linked_transfer_queue(Range&& elements) : linked_transfer_queue() {
        this->offer_all(std::forward<Range>(elements));
    }
    ~linked_transfer_queue() override {
        removed_elements rest;
        while (!elements_.empty()) {
            element& e = elements_.front();
            elements_.remove(e);
            rest.add(e);
        }
    }

    /// Waits until a consumer has taken `x`. \throws interrupted; then `x` is withdrawn and
    /// unchanged.
    void transfer(T&& x) {
        if (!try_transfer(std::move(x))) {
            transfer(std::move(x), this_task::stop_token());
        }
    }
    void transfer(T&& x, std::stop_token stop) {
        this->refuse_empty(x);
        if (transfer_until(x, {.stop = std::move(stop)}) != wait_result::ready) {
            throw interrupted("linked_transfer_queue::transfer: stop requested");
        }
    }

    /// Hands `x` to a consumer that already waits. False: no consumer waits, `x` is untouched.
    [[nodiscard]] bool try_transfer(T&& x) {
        this->refuse_empty(x);
        if (!has_waiting_consumer()) {
            return false;
        }
        element_ptr e = make_element(x);
        {
            detail::late_wake wake;
            const detail::lock_guard lock{mutex_};
            if (try_hand_to_taker(e, wake)) {
                return true;
            }
        }
        detail::move_back(x, e->value);
        return false;
    }

    /// Waits until a consumer has taken `x`, at most for `d`. False: timed out, `x` is withdrawn
    /// and unchanged. \throws interrupted; `x` likewise.
    template <class Rep, class Period>
    [[nodiscard]] bool try_transfer_for(T&& x, std::chrono::duration<Rep, Period> d) {
        return try_transfer(std::move(x)) || try_transfer_for(std::move(x), d, this_task::stop_token());
    }
    template <class Rep, class Period>
    [[nodiscard]] bool try_transfer_for(T&& x, std::chrono::duration<Rep, Period> d, std::stop_token stop) {
        this->refuse_empty(x);
        const wait_result how = transfer_until(x, {.until = deadline::after(d), .stop = std::move(stop)});
        if (how == wait_result::interrupted) {
            throw interrupted("linked_transfer_queue::try_transfer_for: stop requested");
        }
        return how == wait_result::ready;
    }

    /// How many consumers wait in take or poll_for and have no element yet. A statistic under load.
    [[nodiscard]] std::size_t waiting_consumer_count() const {
        const detail::lock_guard lock{mutex_};
        return takers_.size();
    }
    [[nodiscard]] bool has_waiting_consumer() const { return waiting_consumer_count() != 0; }

    [[nodiscard]] std::size_t size() const override {
        const detail::lock_guard lock{mutex_};
        return elements_.size();
    }
    [[nodiscard]] std::unique_ptr<blocking_queue<T>> fresh() const override {
        return std::make_unique<linked_transfer_queue>();
    }

    wait_result pop_until(std::optional<T>& x, const wait_limits& limits,
                          function_ref<bool()> give_up = blocking_queue<T>::never_give_up) override {
        x.reset();
        taker me;
        wait_result how = wait_result::ready;
        if (!try_take_or_enlist(me)) {
            how = detail::wait_to_be_served(mutex_, &takers_, me, me, limits, give_up);
        }
        if (how == wait_result::ready) {
            x.emplace(std::move(me.received->value));
        }
        return how;
    }

    void wake_consumers() noexcept override {
        const detail::lock_guard lock{mutex_};
        takers_.wake_all();
    }

protected:
    bool try_push(T& x) override {
        element_ptr e = make_element(x);
        detail::late_wake wake;
        const detail::lock_guard lock{mutex_};
        if (!try_hand_to_taker(e, wake)) {
            elements_.push_back(*e.release());
        }
        return true;
    }
    std::optional<T> try_pop() override {
        element_ptr head;
        {
            const detail::lock_guard lock{mutex_};
            if (elements_.empty()) {
                return std::nullopt;
            }
            head = take_out(elements_.front());
        }
        return std::optional<T>{std::move(head->value)};
    }
    std::vector<T> extract_if(function_ref<bool(const T&)> wanted) override {
        removed_elements removed;
        std::vector<T> out;
        {
            const detail::lock_guard lock{mutex_};
            std::size_t count = 0;
            elements_.visit([&](element& e) {
                e.chosen = wanted(e.value);
                count += e.chosen ? 1 : 0;
                return true;
            });
            out.reserve(count);
            // Nothing has moved so far, so a throw above leaves the queue as it was.
            elements_.visit([&](element& e) {
                mutex_.assert_held();
                if (e.chosen) {
                    removed.add(*take_out(e).release());
                }
                return true;
            });
        }
        removed.move_to(out);
        return out;
    }
    void visit(function_ref<bool(const T&)> visitor) const override {
        const detail::lock_guard lock{mutex_};
        elements_.visit([&](const element& e) { return visitor(e.value); });
    }

private:
    using giver = detail::partner_waiter;
    struct element : detail::waiting_links {
        explicit element(T&& x) noexcept : value(std::move(x)) {}
        T value;
        giver* owner = nullptr;  // the producer that waits until the element is taken, or null
        bool chosen = false;
    };
    using element_ptr = std::unique_ptr<element>;
    struct taker : detail::waiting_links, detail::partner_waiter {
        element_ptr received;
    };

    // Not under the lock. \throws std::bad_alloc, then `x` is untouched
    static element_ptr make_element(T& x) { return std::make_unique<element>(std::move(x)); }

    // Elements that were taken out. They are destroyed after the unlock.
    class removed_elements {
    public:
        removed_elements() = default;
        removed_elements(const removed_elements&) = delete;
        removed_elements& operator=(const removed_elements&) = delete;
        ~removed_elements() {
            list_.visit([](element& e) {
                delete &e;
                return true;
            });
        }
        void add(element& e) noexcept { list_.push_back(e); }
        void move_to(std::vector<T>& out) noexcept {  // which must have room
            list_.visit([&](element& e) {
                out.push_back(std::move(e.value));
                return true;
            });
        }

    private:
        detail::waiting_list<element> list_;
    };

    wait_result transfer_until(T& x, const wait_limits& limits) {
        element_ptr e = make_element(x);
        element& mine = *e;
        giver me;
        {
            detail::late_wake wake;
            const detail::lock_guard lock{mutex_};
            if (try_hand_to_taker(e, wake)) {
                return wait_result::ready;
            }
            mine.owner = &me;
            elements_.push_back(*e.release());
        }
        wait_result how = wait_result::ready;
        try {
            how = detail::wait_to_be_served(mutex_, &elements_, me, mine, limits,
                                            blocking_queue<T>::never_give_up);
        } catch (...) {
            withdraw(mine, x);
            throw;
        }
        if (how != wait_result::ready) {
            withdraw(mine, x);
        }
        return how;
    }
    // Precondition: the element is unlinked, so it belongs to its producer again.
    static void withdraw(element& mine, T& x) noexcept {
        const element_ptr withdrawn{&mine};
        detail::move_back(x, withdrawn->value);
    }

    // True: `me` has the first element. False: `me` is in the list of waiting consumers.
    bool try_take_or_enlist(taker& me) {
        const detail::lock_guard lock{mutex_};
        if (elements_.empty()) {
            takers_.push_back(me);
            return false;
        }
        me.received = take_out(elements_.front());
        return true;
    }

    // The caller performs the wake-up after the unlock.
    bool try_hand_to_taker(element_ptr& x, detail::late_wake& wake) noexcept SPOOL_REQUIRES(mutex_) {
        if (takers_.empty()) {
            return false;
        }
        taker& first = takers_.front();
        first.received = std::move(x);
        wake = detail::serve(takers_, first, first);
        return true;
    }
    element_ptr take_out(element& e) noexcept SPOOL_REQUIRES(mutex_) {
        if (e.owner != nullptr) {
            // The wake-up happens at once, since one call may take out several elements.
            static_cast<void>(detail::serve(elements_, e, *e.owner));
        } else {
            elements_.remove(e);
        }
        return element_ptr{&e};
    }

    // Guards everything below, and every waiter in the lists; pair (M) of every wait.
    mutable detail::mutex mutex_;
    detail::waiting_list<element> elements_ SPOOL_GUARDED_BY(mutex_);
    detail::waiting_list<taker> takers_ SPOOL_GUARDED_BY(mutex_);
};

}  // namespace spool::inline v1
