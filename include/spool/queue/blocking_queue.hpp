// blocking_queue: what every queue of the library offers, and what a queue of your own must supply.
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

/// A queue whose ends can wait: takers for an element, producers for room.
///
///     spool::linked_blocking_queue<int> numbers{100};  // at most 100
///     numbers.put(7);                                  // waits for room
///     int n = numbers.take();                          // waits for an element
///
/// Calls that take a `T&&` move from it only when they succeed. Elements may be move-only.
/// Waiting: put, take and the `_for` forms end with `interrupted` when stop is requested, of the token given or else of the
/// current task. What is there comes before an interruption, an interruption before a time-out. Zero, negative and
/// huge durations are all safe.
///
/// Thread safety: every member from any thread. What a thread did before adding an element is visible to the one who
/// takes it.
///
/// Lifetime: the queue outlives every call on it, also one whose element has been taken already.
///
/// User code: elements are moved and destroyed outside of the queue's locks, so their moves and
/// destructors may call the queue. There is one limit: linked_blocking_queue, array_blocking_queue
/// and work_stealing_queue move elements while they remove some (remove_if, take_if, clear), with
/// both ends stopped. Meanwhile a move or destructor may call size(), but must not add or take.
/// Predicates, and the order of a priority queue, run under the lock.
///
/// A kind of your own supplies four functions: try_push, try_pop, extract_if and size. Pushing and popping must
/// publish through a mutex, or through seq_cst operations on words that the other side reads: that is what the waiting
/// relies on (see event_count). So must what size() reads, and it counts an element by the time try_push returns: it decides
/// whether the next taker is woken.
template <class T>
class blocking_queue {
public:
    using value_type = T;

    /// The capacity of a queue without limit.
    static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();
    /// The give-up predicate of a wait that has none.
    static constexpr auto never_give_up = [] { return false; };

    blocking_queue() = default;
    blocking_queue(const blocking_queue&) = delete;
    blocking_queue& operator=(const blocking_queue&) = delete;
    virtual ~blocking_queue() = default;

    /// Adds without waiting. False: no room, `x` is untouched.
    [[nodiscard]] bool offer(T&& x) {
        refuse_empty(x);
        if (!try_push(x)) {
            return false;
        }
        consumers_.notify_throttled();  // pair: the kind's (see try_push)
        return true;
    }

    /// Adds from the front of `xs` for as long as there is room, moving from what it adds, and says how many. Those who wait are told
    /// once. If one throws, those before it are in.
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
            consumers_.notify_throttled();  // pair: the kind's (see try_push)
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

    /// Waits for room at most so long. False: there was none in time, `x` is untouched. \throws interrupted
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

    /// Adds the elements of a range, in order, while there is room, and says how many. Those of an rvalue container are moved,
    /// those of a view copied.
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

    /// Takes the head, if there is one.
    [[nodiscard]] std::optional<T> poll() {
        std::optional<T> x = try_pop();
        if (x.has_value()) {
            producers_.notify_one();  // pair: the kind's (see try_pop)
        }
        return x;
    }

    /// The same into an object that is there already; false: there was none, and `x` is untouched.
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

    /// Waits for an element at most so long. \throws interrupted
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

    /// The waits behind all of these, with every limit. `give_up` is asked before each sleep and after each wake.
    /// (A kind without storage overrides them.)
    virtual wait_result push_until(T& x, const wait_limits& limits,
                                   function_ref<bool()> give_up = never_give_up) {
        const wait_result how = producers_.await([&] { return try_push(x); }, limits, give_up);
        if (how == wait_result::ready) {
            consumers_.notify_throttled();  // pair: the kind's (see try_push)
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
            limits, give_up, [this] { prepare_last_look(); });
        if (how == wait_result::ready) {
            producers_.notify_one();  // pair: the kind's (see try_pop)
            if (consumers_.waiters() != 0 && may_hold_more()) {
                consumers_.order_light();       // what was seen may have been published like that
                consumers_.notify_throttled();  // who was woken wakes the next: see event_count
            }
        }
        return how;
    }

    /// Wakes every waiting taker, or producer, so that its give-up predicate is asked again. What the predicate reads must
    /// have been changed before, by a seq_cst write or under a mutex that the predicate takes.
    virtual void wake_consumers() noexcept { consumers_.notify_all(); }
    virtual void wake_producers() noexcept { producers_.notify_all(); }

    /// Orders the caller's earlier store before a look at this queue: afterwards either the caller sees a
    /// concurrent push, or the pusher sees the store. A heavy barrier where pushes make a light one.
    virtual void settle() const noexcept {}

    /// Removes every element for which `doomed` is true, and says how many. The predicate may run under the queue's
    /// lock: it must not touch the queue. The elements are destroyed after it.
    std::size_t remove_if(function_ref<bool(const T&)> doomed) { return take_if(doomed).size(); }
    void clear() {
        take_if([](const T&) { return true; });
    }
    /// Takes out every element for which `wanted` is true, due or not, in order. If memory for the list runs out, all
    /// stay.
    std::vector<T> take_if(function_ref<bool(const T&)> wanted) {
        std::vector<T> taken = extract_if(wanted);
        if (!taken.empty()) {
            producers_.notify_all();  // pair: the kind's; room for several
        }
        return taken;
    }
    /// Takes up to `most` elements that are there now, oldest first, and appends them to `out`. Says how many.
    /// A container with reserve() that cannot grow loses nothing; another that throws loses the element it was given.
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

    /// Shows every element, in order. As with remove_if, `look` must not touch the queue.
    void for_each(function_ref<void(const T&)> look) const {
        visit([&](const T& x) {
            look(x);
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
    /// Shows the head, if there is one; false if the queue is empty.
    bool peek(function_ref<void(const T&)> look) const {
        bool seen = false;
        visit([&](const T& x) {
            look(x);
            seen = true;
            return false;
        });
        return seen;
    }
    /// Copies of every element, in order.
    [[nodiscard]] std::vector<T> to_vector() const requires(std::copy_constructible<T>) {
        std::vector<T> copies;
        for_each([&](const T& x) { copies.push_back(x); });
        return copies;
    }

    /// Exact at rest; under load a value that it had during the call.
    [[nodiscard]] virtual std::size_t size() const = 0;
    [[nodiscard]] bool empty() const { return size() == 0; }
    /// How many it may hold; `unlimited` by default.
    [[nodiscard]] virtual std::size_t capacity() const { return unlimited; }
    /// Changes it, also while in use; of the library's kinds, linked_blocking_queue and linked_blocking_deque can.
    /// \throws std::logic_error, which names the kind, where a kind cannot
    virtual void set_capacity(std::size_t) { detail::throw_fixed_capacity(typeid(*this), capacity()); }
    [[nodiscard]] std::size_t remaining_capacity() const {
        const std::size_t limit = capacity();
        return limit == unlimited ? unlimited : limit - std::min(limit, size());
    }

    /// Hands the newest element that the calling consumer itself has added to `use`, where it lies. True: it was used, and is destroyed by
    /// now; also if `use` throws. False: there is none, or `use` said so, which then has not touched the queue, and the element stays.
    /// Means something only for kinds that keep a store per consumer; such a kind says so by keeps_store_per_consumer().
    virtual bool use_own([[maybe_unused]] function_ref<bool(T&)> use) { return false; }
    /// The same for one that another consumer has added, which it might take next. One that is not used becomes the caller's own.
    virtual bool use_other([[maybe_unused]] function_ref<bool(T&)> use) { return false; }

    /// True: each attached consumer has a store of its own, and use_own() and use_other() work on those. Must not change.
    [[nodiscard]] virtual bool keeps_store_per_consumer() const noexcept { return false; }

    /// A thread that will take elements, over and over, says so, and takes its leave when it is done; both on that
    /// thread. Means something only for such kinds, too.
    virtual void attach_consumer() {}
    virtual void detach_consumer() noexcept {}
    /// A new queue with the same settings and nothing in it, or null if the kind cannot make one: what a pool takes in a forked child (see
    /// fork_policy). There this one may be in the middle of anything: only what never changes, and plain words, may be read, and no
    /// lock taken.
    [[nodiscard]] virtual std::unique_ptr<blocking_queue> fresh() const { return nullptr; }

protected:
    /// Called between a taker's announcement and its last look: the place for a heavy barrier.
    virtual void prepare_last_look() noexcept { settle(); }
    /// Adds `x` if there is room, moving from it only then.
    virtual bool try_push(T& x) = 0;
    /// Adds one or more of `xs`, from the front, and says how many; 0: no room. A kind overrides it where several cost less than
    /// one after the other. If it throws, nothing was added.
    virtual std::size_t try_push_some(std::span<T> xs) { return try_push(xs.front()) ? 1 : 0; }
    /// Takes the head, if there is one.
    virtual std::optional<T> try_pop() = 0;
    /// The same by assignment. A kind overrides it where that is quicker.
    virtual bool try_pop_into([[maybe_unused]] T& x) {
        if constexpr (std::is_move_assignable_v<T>) {
            if (std::optional<T> head = try_pop()) {
                x = *std::move(head);
                return true;
            }
        }
        return false;
    }
    /// Takes out every element for which `wanted` is true, in order; the rest keep theirs. `wanted` is asked of each
    /// element, in order. If it or the returned vector's memory throws, every element is still in the queue.
    virtual std::vector<T> extract_if(function_ref<bool(const T&)> wanted) = 0;
    /// Shows the elements in order for as long as `more` says so. A kind overrides it where it can stop early.
    virtual void visit(function_ref<bool(const T&)> more) const {
        bool going_on = true;
        // extract_if removes nothing here, so the queue is not changed.
        static_cast<void>(const_cast<blocking_queue*>(this)->extract_if([&](const T& x) {
            going_on = going_on && more(x);
            return false;
        }));
    }

    /// For kinds that have held an element back from those who look: wakes one of them, as adding it would.
    void notify_consumer() noexcept { consumers_.notify_throttled(); }
    /// For kinds that only make a light barrier when they add something: after it, before adding counts as done. See event_count.
    void order_light() noexcept { consumers_.order_light(); }

    /// An empty task is no element: nobody could run it. \throws std::invalid_argument
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

    // A kind whose size() throws must not cost the element that was just taken.
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
