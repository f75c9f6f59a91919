// linked_blocking_deque: elements are added and taken at both ends; unbounded or with a capacity.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <ranges>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "spool/queue/blocking_queue.hpp"
#include "spool/queue/detail/two_ended_store.hpp"

namespace spool::inline v1 {

/// What plain poll and take mean on a deque.
enum class deque_order {
    fifo,  ///< they take the first: a queue
    lifo,  ///< they take the last: a stack
};

/// A queue with two ends; unbounded unless a capacity is given.
///
///     spool::linked_blocking_deque<job> jobs{100};
///     jobs.put(job{1});                // at the back, as put_last
///     jobs.put_first(job{2});          // this one is urgent
///     job next = jobs.take();          // the first: job 2
///     job newest = jobs.take_last();
///
/// Members without an end in their name add at the back; deque_order decides where they take from.
/// peek, for_each, take_if and drain_to follow the order in which poll would take. Waiting,
/// interruption and `T&&` are as in blocking_queue. Elements must move without throwing.
template <class T>
class linked_blocking_deque final : public blocking_queue<T> {
    using end = detail::deque_end;

public:
    linked_blocking_deque() = default;
    explicit linked_blocking_deque(deque_order order) : order_(order) {}
    /// \throws std::invalid_argument if `capacity` is 0.
    explicit linked_blocking_deque(std::size_t capacity, deque_order order = deque_order::fifo)
        : order_(order) {
        store_.set_capacity(capacity, "linked_blocking_deque");
    }
    /// Holds the elements of a range, unbounded. Moves those of an rvalue range.
    template <std::ranges::input_range Range>
        requires(!std::derived_from<std::remove_cvref_t<Range>, linked_blocking_deque>)
    explicit linked_blocking_deque(Range&& elements, deque_order order = deque_order::fifo) : order_(order) {
        this->offer_all(std::forward<Range>(elements));
    }

    /// Adds without waiting. Returns false, and leaves `x` untouched, if there is no room.
    [[nodiscard]] bool offer_first(T&& x) { return offer_at(end::first, x); }
    [[nodiscard]] bool offer_last(T&& x) { return offer_at(end::last, x); }

    /// Waits for room. \throws interrupted
    void put_first(T&& x) {
        if (!offer_first(std::move(x))) {
            put_first(std::move(x), this_task::stop_token());
        }
    }
    void put_first(T&& x, std::stop_token stop) {
        put_at(end::first, x, {.stop = std::move(stop)}, "linked_blocking_deque::put_first");
    }
    void put_last(T&& x) {
        if (!offer_last(std::move(x))) {
            put_last(std::move(x), this_task::stop_token());
        }
    }
    void put_last(T&& x, std::stop_token stop) {
        put_at(end::last, x, {.stop = std::move(stop)}, "linked_blocking_deque::put_last");
    }

    /// Waits for room, at most for `d`. False: timed out, `x` is untouched. \throws interrupted
    template <class Rep, class Period>
    [[nodiscard]] bool offer_first_for(T&& x, std::chrono::duration<Rep, Period> d) {
        return offer_first(std::move(x)) || offer_first_for(std::move(x), d, this_task::stop_token());
    }
    template <class Rep, class Period>
    [[nodiscard]] bool offer_first_for(T&& x, std::chrono::duration<Rep, Period> d, std::stop_token stop) {
        return put_at(end::first, x, {.until = deadline::after(d), .stop = std::move(stop)},
                      "linked_blocking_deque::offer_first_for");
    }
    template <class Rep, class Period>
    [[nodiscard]] bool offer_last_for(T&& x, std::chrono::duration<Rep, Period> d) {
        return offer_last(std::move(x)) || offer_last_for(std::move(x), d, this_task::stop_token());
    }
    template <class Rep, class Period>
    [[nodiscard]] bool offer_last_for(T&& x, std::chrono::duration<Rep, Period> d, std::stop_token stop) {
        return put_at(end::last, x, {.until = deadline::after(d), .stop = std::move(stop)},
                      "linked_blocking_deque::offer_last_for");
    }

    /// Takes the element at one end, if the deque is not empty.
    [[nodiscard]] std::optional<T> poll_first() { return try_pop_at(end::first); }
    [[nodiscard]] std::optional<T> poll_last() { return try_pop_at(end::last); }

    /// Waits for an element. \throws interrupted
    [[nodiscard]] T take_first() {
        std::optional<T> x = poll_first();
        return x.has_value() ? *std::move(x) : take_first(this_task::stop_token());
    }
    [[nodiscard]] T take_first(std::stop_token stop) {
        return *take_at(end::first, {.stop = std::move(stop)}, "linked_blocking_deque::take_first");
    }
    [[nodiscard]] T take_last() {
        std::optional<T> x = poll_last();
        return x.has_value() ? *std::move(x) : take_last(this_task::stop_token());
    }
    [[nodiscard]] T take_last(std::stop_token stop) {
        return *take_at(end::last, {.stop = std::move(stop)}, "linked_blocking_deque::take_last");
    }

    /// Waits for an element, at most for `d`. \throws interrupted
    template <class Rep, class Period>
    [[nodiscard]] std::optional<T> poll_first_for(std::chrono::duration<Rep, Period> d) {
        std::optional<T> x = poll_first();
        return x.has_value() ? std::move(x) : poll_first_for(d, this_task::stop_token());
    }
    template <class Rep, class Period>
    [[nodiscard]] std::optional<T> poll_first_for(std::chrono::duration<Rep, Period> d,
                                                  std::stop_token stop) {
        return take_at(end::first, {.until = deadline::after(d), .stop = std::move(stop)},
                       "linked_blocking_deque::poll_first_for");
    }
    template <class Rep, class Period>
    [[nodiscard]] std::optional<T> poll_last_for(std::chrono::duration<Rep, Period> d) {
        std::optional<T> x = poll_last();
        return x.has_value() ? std::move(x) : poll_last_for(d, this_task::stop_token());
    }
    template <class Rep, class Period>
    [[nodiscard]] std::optional<T> poll_last_for(std::chrono::duration<Rep, Period> d, std::stop_token stop) {
        return take_at(end::last, {.until = deadline::after(d), .stop = std::move(stop)},
                       "linked_blocking_deque::poll_last_for");
    }

    /// Calls `visitor` with the element at one end; false: the deque is empty. As with for_each,
    /// `visitor` must not touch the queue.
    bool peek_first(function_ref<void(const T&)> visitor) const { return store_.peek(end::first, visitor); }
    bool peek_last(function_ref<void(const T&)> visitor) const { return store_.peek(end::last, visitor); }
    /// Like for_each, in reverse order.
    void for_each_backward(function_ref<void(const T&)> visitor) const {
        store_.visit(tail(), [&](const T& x) { return visitor(x), true; });
    }

    /// Removes the element nearest to that end for which `doomed` is true; false: there is none.
    bool remove_first_if(function_ref<bool(const T&)> doomed) { return try_remove_from(end::first, doomed); }
    bool remove_last_if(function_ref<bool(const T&)> doomed) { return try_remove_from(end::last, doomed); }

    [[nodiscard]] std::size_t size() const override { return store_.size(); }
    [[nodiscard]] std::size_t capacity() const override { return store_.capacity(); }
    [[nodiscard]] std::unique_ptr<blocking_queue<T>> fresh() const override {
        return std::make_unique<linked_blocking_deque>(store_.capacity_after_fork(), order_);
    }
    /// If raised, waiting producers proceed. If lowered below the size, the deque keeps its
    /// elements and accepts nothing until its size is below the new capacity.
    /// \throws std::invalid_argument if `capacity` is 0.
    void set_capacity(std::size_t capacity) override {
        store_.set_capacity(capacity, "linked_blocking_deque::set_capacity");
        producers_.notify_all();  // pair (M): the store's mutex
    }
    void check_capacity(std::size_t capacity) const override {
        store_.check_capacity(capacity, "linked_blocking_deque::set_capacity");
    }

    wait_result push_until(T& x, const wait_limits& limits,
                           function_ref<bool()> give_up = blocking_queue<T>::never_give_up) override {
        return push_until(end::last, x, limits, give_up);
    }
    wait_result pop_until(std::optional<T>& x, const wait_limits& limits,
                          function_ref<bool()> give_up = blocking_queue<T>::never_give_up) override {
        return pop_until(head(), x, limits, give_up);
    }
    void wake_consumers() noexcept override { consumers_.notify_all(); }
    void wake_producers() noexcept override { producers_.notify_all(); }

protected:
    bool try_push(T& x) override { return try_push_at(end::last, x); }
    std::optional<T> try_pop() override { return try_pop_at(head()); }
    std::vector<T> extract_if(function_ref<bool(const T&)> wanted) override {
        std::vector<T> out = store_.extract_if(head(), wanted);
        if (!out.empty()) {
            producers_.notify_all();  // pair (M): the store's mutex; room for several
        }
        return out;
    }
    void visit(function_ref<bool(const T&)> visitor) const override { store_.visit(head(), visitor); }

private:
    [[nodiscard]] end head() const noexcept { return order_ == deque_order::fifo ? end::first : end::last; }
    [[nodiscard]] end tail() const noexcept { return order_ == deque_order::fifo ? end::last : end::first; }

    bool try_push_at(end where, T& x) {
        if (!store_.try_push(where, x)) {
            return false;
        }
        consumers_.notify_one();  // pair (M): the store's mutex
        return true;
    }
    std::optional<T> try_pop_at(end where) {
        std::optional<T> x = store_.try_pop(where);
        if (x.has_value()) {
            producers_.notify_one();  // pair (M): the store's mutex
        }
        return x;
    }
    bool try_remove_from(end from, function_ref<bool(const T&)> doomed) {
        if (!store_.try_remove(from, doomed)) {
            return false;
        }
        producers_.notify_one();  // pair (M): the store's mutex
        return true;
    }

    wait_result push_until(end where, T& x, const wait_limits& limits, function_ref<bool()> give_up) {
        return producers_.await([&] { return try_push_at(where, x); }, limits, give_up);
    }
    wait_result pop_until(end where, std::optional<T>& x, const wait_limits& limits,
                          function_ref<bool()> give_up) {
        x.reset();
        const auto taken = [&] {
            std::optional<T> found = try_pop_at(where);
            if (found.has_value()) {
                x.emplace(*std::move(found));
            }
            return x.has_value();
        };
        return consumers_.await(taken, limits, give_up);
    }
    bool offer_at(end where, T& x) {
        this->refuse_empty(x);
        return try_push_at(where, x);
    }
    bool put_at(end where, T& x, const wait_limits& limits, const char* origin) {
        this->refuse_empty(x);
        const wait_result how = push_until(where, x, limits, blocking_queue<T>::never_give_up);
        if (how == wait_result::interrupted) {
            throw interrupted(std::string{origin} + ": stop requested");
        }
        return how == wait_result::ready;
    }
    std::optional<T> take_at(end where, const wait_limits& limits, const char* origin) {
        std::optional<T> x;
        if (pop_until(where, x, limits, blocking_queue<T>::never_give_up) == wait_result::interrupted) {
            throw interrupted(std::string{origin} + ": stop requested");
        }
        return x;
    }

    const deque_order order_ = deque_order::fifo;
    detail::two_ended_store<T> store_;
    event_count consumers_;  // wait for an element, at either end
    event_count producers_;  // wait for room, at either end
};

}  // namespace spool::inline v1
