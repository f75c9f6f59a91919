// blocking_queue: the interface of every queue in the library, and what a custom queue must supply.
#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <typeinfo>
#include <utility>
#include <vector>

#include "spool/base/deadline.hpp"
#include "spool/base/error.hpp"
#include "spool/base/function_ref.hpp"
#include "spool/base/task.hpp"
#include "spool/queue/detail/fixed_capacity.hpp"
#include "spool/sync/event_count.hpp"
#include "spool/sync/this_task.hpp"

namespace spool::inline v1 {

/// A queue on which both sides can wait: consumers for an element, producers for room.
///
///     spool::linked_blocking_queue<int> numbers{100};  // at most 100
///     numbers.put(7);                                  // waits for room
///     int n = numbers.take();                          // waits for an element
///
/// Calls that take a `T&&` move from it only when they succeed. Elements may be move-only.
/// Waiting: put, take and the `_for` forms throw `interrupted` when stop is requested on the given
/// token, or by default on that of the current task. An available element (or room) wins over an
/// interruption, an interruption over a time-out. Zero, negative and huge durations are safe.
///
/// Thread safety: any thread may call any member. What a thread did before it added an element is
/// visible to the thread that takes that element.
///
/// Lifetime: the queue must outlive every call on it, even a call whose element is already taken.
///
/// User code: elements are moved and destroyed outside of the queue's locks, so their moves and
/// destructors may call the queue. There is one limit: linked_blocking_queue, array_blocking_queue
/// and work_stealing_queue move elements while they remove some (remove_if, take_if, clear), with
/// both ends stopped. Meanwhile a move or destructor may call size(), but must not add or take.
/// Predicates, and the order of a priority queue, run under the lock.
///
/// A custom kind supplies try_push, try_pop, extract_if and size. try_push and try_pop must publish
/// through a mutex, or through seq_cst operations on words that the other side reads: the waits
/// rely on this (see event_count). So must what size() reads. size() must count an element by the
/// time try_push returns, because size() decides whether the next consumer is woken.
template <class T>
class blocking_queue {
public:
    using value_type = T;
    static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();
    /// The give-up predicate of a wait that never gives up.
    static constexpr auto never_give_up = [] { return false; };

    blocking_queue() = default;
    blocking_queue(const blocking_queue&) = delete;
    blocking_queue& operator=(const blocking_queue&) = delete;
    virtual ~blocking_queue() = default;

    /// Adds without waiting. Returns false, and leaves `x` untouched, if there is no room.
    [[nodiscard]] bool offer(T&& x) {
        refuse_empty(x);
        if (!try_push(x)) {
            return false;
        }
        consumers_.notify_unless_wake_pending();  // pair: the kind's (see try_push)
        return true;
    }

    /// Adds elements from the front of `xs` while there is room, moves from those and returns their
    /// number. Notifies once per batch. If adding one throws, the elements before it stay added.
    [[nodiscard]] std::size_t offer_some(std::span<T> xs) {
        for (const T& x : xs) {
            refuse_empty(x);
        }
        std::size_t added = 0;
        while (added < xs.size()) {
            const std::size_t more = try_push_some(xs.subspan(added));
            if (more == 0) {
                break;
            }
            added += more;
            consumers_.notify_unless_wake_pending();  // pair: the kind's (see try_push)
        }
        return added;
    }

    /// Waits for room. \throws interrupted
    void put(T&& x) {
        if (!offer(std::move(x))) {
            // NOLINTNEXTLINE(bugprone-use-after-move): what was not added is as it was
            put(std::move(x), this_task::stop_token());
        }
    }
    void put(T&& x, std::stop_token stop) {
        refuse_empty(x);
        if (push_until(x, {.stop = std::move(stop)}) != wait_result::ready) {
            throw interrupted("blocking_queue::put: stop requested");
        }
    }

    /// Waits for room, at most for `d`. False: timed out, `x` is untouched. \throws interrupted
    template <class Rep, class Period>
    [[nodiscard]] bool offer_for(T&& x, std::chrono::duration<Rep, Period> d) {
        return offer(std::move(x)) || offer_for(std::move(x), d, this_task::stop_token());
    }
    template <class Rep, class Period>
    [[nodiscard]] bool offer_for(T&& x, std::chrono::duration<Rep, Period> d, std::stop_token stop) {
        refuse_empty(x);
        const wait_result how = push_until(x, {.until = deadline::after(d), .stop = std::move(stop)});
        if (how == wait_result::interrupted) {
            throw interrupted("blocking_queue::offer_for: stop requested");
        }
        return how == wait_result::ready;
    }

    /// Adds the elements of a range in order while there is room, and returns how many. Moves the
    /// elements of an rvalue container, copies those of a view.
    template <std::ranges::input_range Range>
    std::size_t offer_all(Range&& elements) {
        std::size_t added = 0;
        for (auto&& element : elements) {
            bool taken = false;
            if constexpr (owns_elements<Range> && std::same_as<decltype(element), T&>) {
                taken = offer(std::move(element));
            } else {
                taken = offer(T(element));
            }
            if (!taken) {
                break;
            }
            ++added;
        }
        return added;
    }

    /// Takes the head, if the queue is not empty.
    [[nodiscard]] std::optional<T> poll() {
        std::optional<T> x = try_pop();
        if (x.has_value()) {
            producers_.notify_one();  // pair: the kind's (see try_pop)
        }
        return x;
    }

    /// Assigns the head to `x`. Returns false, and leaves `x` untouched, if the queue is empty.
    [[nodiscard]] bool poll_into(T& x) requires(std::is_move_assignable_v<T>) {
        if (!try_pop_into(x)) {
            return false;
        }
        producers_.notify_one();  // pair: the kind's (see try_pop)
        return true;
    }

    /// Waits for an element. \throws interrupted
    [[nodiscard]] T take() {
        std::optional<T> x = poll();
        return x.has_value() ? *std::move(x) : take(this_task::stop_token());
    }
    [[nodiscard]] T take(std::stop_token stop) {
        std::optional<T> x;
        if (pop_until(x, {.stop = std::move(stop)}) != wait_result::ready) {
            throw interrupted("blocking_queue::take: stop requested");
        }
        return *std::move(x);
    }

    /// Waits for an element, at most for `d`. \throws interrupted
    template <class Rep, class Period>
    [[nodiscard]] std::optional<T> poll_for(std::chrono::duration<Rep, Period> d) {
        std::optional<T> x = poll();
        return x.has_value() ? std::move(x) : poll_for(d, this_task::stop_token());
    }
    template <class Rep, class Period>
    [[nodiscard]] std::optional<T> poll_for(std::chrono::duration<Rep, Period> d, std::stop_token stop) {
        std::optional<T> x;
        if (pop_until(x, {.until = deadline::after(d), .stop = std::move(stop)}) ==
            wait_result::interrupted) {
            throw interrupted("blocking_queue::poll_for: stop requested");
        }
        return x;
    }

    /// The waits behind all of these, with every limit. They ask `give_up` before each sleep and
    /// after each wake-up. (A kind without storage overrides them.)
    virtual wait_result push_until(T& x, const wait_limits& limits,
                                   function_ref<bool()> give_up = never_give_up) {
        const wait_result how = producers_.await([&] { return try_push(x); }, limits, give_up);
        if (how == wait_result::ready) {
            consumers_.notify_unless_wake_pending();  // pair: the kind's (see try_push)
        }
        return how;
    }
    virtual wait_result pop_until(std::optional<T>& x, const wait_limits& limits,
                                  function_ref<bool()> give_up = never_give_up) {
        x.reset();
        const wait_result how = consumers_.await(
            [&] {
                if (std::optional<T> head = try_pop()) {
                    x.emplace(*std::move(head));
                    return true;
                }
                return false;
            },
            limits, give_up, [this] { prepare_recheck(); });
        if (how == wait_result::ready) {
            producers_.notify_one();  // pair: the kind's (see try_pop)
            if (consumers_.waiters() != 0 && may_hold_more()) {
                // Throttled wakes: a woken consumer wakes the next. T0, as the push may be light.
                consumers_.publish_before_notify();
                consumers_.notify_unless_wake_pending();
            }
        }
        return how;
    }

    /// Wakes all waiting consumers, or producers, to re-check their give-up predicates. The caller
    /// first changes what they read, by a seq_cst write or under a mutex that the predicate locks.
    virtual void wake_consumers() noexcept { consumers_.notify_all(); }
    virtual void wake_producers() noexcept { producers_.notify_all(); }

    /// Orders the caller's earlier store before its check of this queue: either the caller sees a
    /// concurrent push, or the pusher sees the store. A heavy barrier if pushes make a light one.
    virtual void synchronize_with_producers() const noexcept {}

    /// Removes every element for which `doomed` is true and returns how many. The predicate may run
    /// under the queue's lock: it must not touch the queue. Destroys the elements afterwards.
    std::size_t remove_if(function_ref<bool(const T&)> doomed) { return take_if(doomed).size(); }
    void clear() {
        take_if([](const T&) { return true; });
    }
    /// Takes out every element for which `wanted` is true, due or not, in order. If memory for the
    /// result runs out, all elements stay.
    std::vector<T> take_if(function_ref<bool(const T&)> wanted) {
        std::vector<T> taken = extract_if(wanted);
        if (!taken.empty()) {
            producers_.notify_all();  // pair: the kind's; room for several
        }
        return taken;
    }
    /// Takes up to `most` elements, oldest first, appends them to `out` and returns how many. If a
    /// container with reserve() cannot grow, no element is lost; if push_back throws, one is.
    template <class Container>
        requires(requires(Container& out, T x) { out.push_back(std::move(x)); })
    std::size_t drain_to(Container& out, std::size_t most = unlimited) {
        std::size_t taken = 0;
        for (; taken < most; ++taken) {
            if constexpr (requires { out.reserve(out.capacity()); }) {
                if (out.size() == out.capacity()) {
                    out.reserve(std::max<std::size_t>(out.size() * 2, 8));
                }
            }
            std::optional<T> x = poll();
            if (!x.has_value()) {
                break;
            }
            out.push_back(*std::move(x));
        }
        return taken;
    }

    /// Calls `visitor` with every element, in order. As in remove_if, it must not touch the queue.
    void for_each(function_ref<void(const T&)> visitor) const {
        visit([&](const T& x) {
            visitor(x);
            return true;
        });
    }
    [[nodiscard]] bool contains(function_ref<bool(const T&)> wanted) const {
        bool found = false;
        visit([&](const T& x) {
            found = wanted(x);
            return !found;
        });
        return found;
    }
    /// Calls `visitor` with the head. Returns false if the queue is empty.
    bool peek(function_ref<void(const T&)> visitor) const {
        bool seen = false;
        visit([&](const T& x) {
            visitor(x);
            seen = true;
            return false;
        });
        return seen;
    }
    [[nodiscard]] std::vector<T> to_vector() const requires(std::copy_constructible<T>) {
        std::vector<T> copies;
        for_each([&](const T& x) { copies.push_back(x); });
        return copies;
    }

    /// Exact when the queue is idle. Under load, a value that was true during the call.
    [[nodiscard]] virtual std::size_t size() const = 0;
    [[nodiscard]] bool empty() const { return size() == 0; }
    /// How many elements the queue may hold; `unlimited` by default.
    [[nodiscard]] virtual std::size_t capacity() const { return unlimited; }
    /// Changes the capacity, even while in use. linked_blocking_queue and linked_blocking_deque
    /// support it. \throws std::logic_error, which names the kind, if the kind does not
    virtual void set_capacity(std::size_t n) { check_capacity(n); }
    /// Throws what set_capacity(n) would. A kind overrides both, or a pool's apply() refuses.
    virtual void check_capacity(std::size_t) const {
        detail::throw_fixed_capacity(typeid(*this), capacity());
    }
    [[nodiscard]] std::size_t remaining_capacity() const {
        const std::size_t limit = capacity();
        return limit == unlimited ? unlimited : limit - std::min(limit, size());
    }

    /// Calls `use` in place with the newest element that the calling consumer added. True: `use`
    /// returned true, and the element is destroyed, as it is if `use` throws. False: there is none,
    /// or `use` returned false without touching the queue, as it must, and the element stays.
    /// Only kinds with keeps_store_per_consumer() implement this.
    virtual bool use_own([[maybe_unused]] function_ref<bool(T&)> use) { return false; }
    /// Likewise for another consumer's element. If `use` returns false, the caller's store gets it.
    virtual bool use_other([[maybe_unused]] function_ref<bool(T&)> use) { return false; }
    /// Constant. True: each attached consumer has a store for use_own() and use_other().
    [[nodiscard]] virtual bool keeps_store_per_consumer() const noexcept { return false; }
    /// A thread that takes elements repeatedly attaches first and detaches when it is done, both on
    /// that thread. Only kinds with keeps_store_per_consumer() implement this.
    virtual void attach_consumer() {}
    virtual void detach_consumer() noexcept {}
    /// Returns a new, empty queue with the same settings, or null if the kind cannot make one. A
    /// pool calls this in a forked child (see fork_policy), with this queue in any intermediate
    /// state. An override may read only constants and single words, and must take no lock.
    [[nodiscard]] virtual std::unique_ptr<blocking_queue> fresh() const { return nullptr; }

protected:
    /// Runs between a consumer's announcement and its re-check: the place for a heavy barrier.
    virtual void prepare_recheck() noexcept { synchronize_with_producers(); }
    /// Adds `x` if there is room, and moves from it only then.
    virtual bool try_push(T& x) = 0;
    /// Adds one or more elements from the front of `xs` and returns how many; 0: no room. If it
    /// throws, nothing was added. A kind overrides this where a batch is cheaper.
    virtual std::size_t try_push_some(std::span<T> xs) { return try_push(xs.front()) ? 1 : 0; }
    /// Takes the head, if the queue is not empty.
    virtual std::optional<T> try_pop() = 0;
    /// Likewise, by assignment to `x`. A kind overrides this where assignment is faster.
    virtual bool try_pop_into([[maybe_unused]] T& x) {
        if constexpr (std::is_move_assignable_v<T>) {
            if (std::optional<T> head = try_pop()) {
                x = *std::move(head);
                return true;
            }
        }
        return false;
    }
    /// Takes out every element for which `wanted` is true, in order; the rest keep their order.
    /// Asks `wanted` in order. If `wanted` or the allocation throws, every element stays.
    virtual std::vector<T> extract_if(function_ref<bool(const T&)> wanted) = 0;
    /// Calls `visitor` on each element in order, until it returns false. Override to stop early.
    virtual void visit(function_ref<bool(const T&)> visitor) const {
        bool continues = true;
        // With a predicate that is always false, extract_if leaves the queue unchanged.
        static_cast<void>(const_cast<blocking_queue*>(this)->extract_if([&](const T& x) {
            continues = continues && visitor(x);
            return false;
        }));
    }

    /// For kinds that hid an element for a while: wakes a consumer, as adding the element would.
    void notify_consumer() noexcept { consumers_.notify_unless_wake_pending(); }
    /// For kinds whose try_push makes only a light barrier: call this after it (T0 of event_count).
    void publish_before_notify() noexcept { consumers_.publish_before_notify(); }
    /// An empty task cannot run, so no queue accepts one. \throws std::invalid_argument
    static void refuse_empty(const T& x) {
        if constexpr (std::same_as<T, task>) {
            if (x.empty()) {
                throw std::invalid_argument("blocking_queue: the task is empty");
            }
        }
    }

private:
    template <class Range>
    static constexpr bool owns_elements = !std::is_lvalue_reference_v<Range> && !std::ranges::view<Range> &&
                                          !std::ranges::borrowed_range<Range>;

    // If a kind's size() throws, the element that was just taken must not be lost.
    bool may_hold_more() const noexcept {
        try {
            return !empty();
        } catch (...) {
            return true;
        }
    }

    event_count consumers_;  // wait for an element
    event_count producers_;  // wait for room
};

}  // namespace spool::inline v1
