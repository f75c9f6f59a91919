// priority_blocking_queue: elements come out by priority, not by age.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include "spool/base/callable.hpp"
#include "spool/detail/mutex.hpp"
#include "spool/queue/blocking_queue.hpp"
#include "spool/queue/detail/parked.hpp"
#include "spool/queue/detail/stable_heap.hpp"

namespace spool::inline v1 {

namespace detail {

// Asks a task for its priority once, when it is added: its callable may answer slowly, or throw.
struct greater_priority_first : order_by_key {
    using key_type = int;
    [[nodiscard]] int key(const task& t) const { return t.priority(); }
    bool operator()(int a, int b) const noexcept { return a > b; }
};

template <class T>
struct default_before {
    using type = std::less<T>;
};
template <>
struct default_before<task> {
    using type = greater_priority_first;
};

}  // namespace detail

/// Unbounded, ordered by `Before`: `before(a, b)` is true if `a` goes before `b`. Equal elements
/// come out in the order they were added. By default the least element comes first; of tasks, the
/// one with the greatest task::priority().
///
///     spool::priority_blocking_queue<int> numbers;                          // the least first
///     spool::priority_blocking_queue<int, std::greater<>> greatest_first;
///     spool::thread_pool_executor pool(
///         {.queue = std::make_unique<spool::priority_blocking_queue<spool::task>>()});
///     pool.execute(spool::with_priority(10, [] { ... }));
///
/// `before` runs under the queue's lock and must not touch the queue. If it throws, in any call,
/// nothing has changed and nothing is lost. The queue finds an element's place when it is added:
/// what `before` reads must not change afterwards.
///
/// for_each, remove_if, take_if and drain_to follow the order in which the elements would come out.
/// peek() is O(1); adding and taking are O(log n); visits of all elements sort first. The queue
/// frees memory after a burst. Elements must move without throwing. See blocking_queue for the
/// rest.
template <class T, class Before = typename detail::default_before<T>::type>
class priority_blocking_queue final : public blocking_queue<T> {
public:
    priority_blocking_queue() : priority_blocking_queue(Before{}) {}
    /// \throws std::invalid_argument if `before` is empty (a null pointer, an empty std::function).
    explicit priority_blocking_queue(Before before) : heap_(require_not_null(std::move(before))) {}
    /// Holds the elements of a range. Moves those of an rvalue range.
    template <std::ranges::input_range Range>
        requires(!std::is_convertible_v<Range, Before> &&
                 !std::derived_from<std::remove_cvref_t<Range>, priority_blocking_queue>)
    explicit priority_blocking_queue(Range&& elements, Before before = {})
        : priority_blocking_queue(std::move(before)) {
        this->offer_all(std::forward<Range>(elements));
    }

    [[nodiscard]] std::size_t size() const override {
        const detail::lock_guard lock{mutex_};
        return heap_.size();
    }
    // Takes no lock: reads only constants.
    [[nodiscard]] std::unique_ptr<blocking_queue<T>> fresh() const override SPOOL_UNCHECKED_LOCKS {
        if constexpr (!std::copy_constructible<Before>) {
            return nullptr;
        } else {
            return std::make_unique<priority_blocking_queue>(heap_.order());
        }
    }

protected:
    bool try_push(T& x) override {
        auto key = key_of(x);
        detail::loan<T> element{x};  // before the lock: see parked
        const detail::lock_guard lock{mutex_};
        heap_.push(element, std::move(key));
        return true;
    }
    std::optional<T> try_pop() override {
        detail::parked<T> first;
        {
            const detail::lock_guard lock{mutex_};
            if (heap_.empty()) {
                return std::nullopt;
            }
            heap_.pop(first);
        }
        return std::optional<T>{std::move(*first)};
    }
    std::vector<T> extract_if(function_ref<bool(const T&)> wanted) override {
        std::vector<T> out;
        std::vector<detail::parked<T>> taken;
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
    static Before require_not_null(Before before) {
        if (detail::is_empty_callable(before)) {
            detail::throw_empty_callable("priority_blocking_queue");
        }
        return before;
    }

    // Needs no lock: reads only Before, which never changes.
    [[nodiscard]] auto key_of(const T& x) const SPOOL_UNCHECKED_LOCKS { return heap_.key_of(x); }

    mutable detail::mutex mutex_;  // guards heap_; pair (M) of both waits
    detail::stable_heap<T, Before> heap_ SPOOL_GUARDED_BY(mutex_);
};

}  // namespace spool::inline v1
