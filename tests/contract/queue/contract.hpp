// What the contract suites of the queues share: every kind of queue as the suites use it, and
// common checks.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "contract/interruption.hpp"
#include "spool/base/task.hpp"
#include "spool/queue/array_blocking_queue.hpp"
#include "spool/queue/delay_queue.hpp"
#include "spool/queue/linked_blocking_deque.hpp"
#include "spool/queue/linked_blocking_queue.hpp"
#include "spool/queue/linked_transfer_queue.hpp"
#include "spool/queue/priority_blocking_queue.hpp"
#include "spool/queue/synchronous_queue.hpp"
#include "support/delays.hpp"
#include "support/eventually.hpp"

namespace test {

/// The number of elements in most tests, and the default capacity of the bounded kinds.
inline constexpr int size = 32;

// ---- The kinds. make<T>() makes an empty queue, from(elements) one that contains these elements.

enum class order { first_in_first_out, least_first };

template <template <class> class Queue, order Order>
struct unbounded_kind {
    template <class T>
    using queue = Queue<T>;
    static constexpr order out = Order;

    template <class T>
    static queue<T> make() {
        return queue<T>();
    }
    template <class T>
    static queue<T> from(std::vector<T> elements) {
        return queue<T>(std::move(elements));
    }
};

struct unbounded_linked : unbounded_kind<spool::linked_blocking_queue, order::first_in_first_out> {
    static constexpr const char* name = "unbounded_linked";
};
struct transfer : unbounded_kind<spool::linked_transfer_queue, order::first_in_first_out> {
    static constexpr const char* name = "transfer";
};
struct unbounded_deque : unbounded_kind<spool::linked_blocking_deque, order::first_in_first_out> {
    static constexpr const char* name = "unbounded_deque";
};

template <class T>
using priority_queue_of = spool::priority_blocking_queue<T>;
struct priority : unbounded_kind<priority_queue_of, order::least_first> {
    static constexpr const char* name = "priority";
};

/// A due time in the past for each number; smaller numbers are due earlier.
struct long_due {
    spool::due_time operator()(int n) const { return spool::due_time{std::chrono::nanoseconds{n}}; }
    spool::due_time operator()(const spool::task& t) const { return t.due(); }
};
template <class T>
using delay_queue_of = spool::delay_queue<T, long_due>;
struct delay : unbounded_kind<delay_queue_of, order::least_first> {
    static constexpr const char* name = "delay";
};

template <template <class> class Queue>
struct bounded_kind {
    template <class T>
    using queue = Queue<T>;
    static constexpr order out = order::first_in_first_out;

    template <class T>
    static queue<T> make(std::size_t capacity = size) {
        return queue<T>(capacity);
    }
};

struct linked : bounded_kind<spool::linked_blocking_queue> {
    static constexpr const char* name = "linked";
};
struct deque : bounded_kind<spool::linked_blocking_deque> {
    static constexpr const char* name = "deque";
};
struct array : bounded_kind<spool::array_blocking_queue> {
    static constexpr const char* name = "array";

    template <class T>
    static queue<T> from(std::vector<T> elements) {
        return queue<T>(size, std::move(elements));
    }
};

template <spool::fairness Fairness>
struct hand_off {
    template <class T>
    using queue = spool::synchronous_queue<T>;
    static constexpr const char* name =
        Fairness == spool::fairness::fair ? "fair_hand_off" : "unfair_hand_off";

    template <class T>
    static queue<T> make() {
        return queue<T>(Fairness);
    }
};
using fair_hand_off = hand_off<spool::fairness::fair>;
using unfair_hand_off = hand_off<spool::fairness::unfair>;

using bounded_kinds = testing::Types<linked, array, deque>;
using unbounded_kinds = testing::Types<unbounded_linked, priority, delay, transfer, unbounded_deque>;
using fifo_kinds = testing::Types<linked, array, transfer, deque>;
using storing_kinds = testing::Types<linked, unbounded_linked, array, priority, delay, transfer, deque>;
/// The kinds that can be constructed with elements.
using loaded_kinds = testing::Types<unbounded_linked, array, priority, delay, transfer, unbounded_deque>;
using hand_off_kinds = testing::Types<unfair_hand_off, fair_hand_off>;
using all_kinds = testing::Types<linked, unbounded_linked, array, unfair_hand_off, fair_hand_off, priority,
                                 delay, transfer, deque, unbounded_deque>;

struct kind_names {
    template <class Kind>
    static std::string GetName(int) {
        return Kind::name;
    }
};

// ---- Elements

/// 0, 1, 2, ... in the order in which they must come out.
inline std::vector<int> numbers(int count = size) {
    std::vector<int> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

/// The numbers in the order in which a test puts them in. They are shuffled if the queue itself
/// sorts.
template <class Kind>
std::vector<int> arrivals() {
    std::vector<int> all = numbers();
    if (Kind::out == order::least_first) {
        // A permutation: each number occurs once.
        std::transform(all.begin(), all.end(), all.begin(), [](int n) { return n * 13 % size; });
    }
    return all;
}

template <class Kind>
void fill(typename Kind::template queue<int>& queue) {
    for (const int n : arrivals<Kind>()) {
        EXPECT_TRUE(queue.offer(int{n}));
    }
}

/// A list of `good` runnable tasks, followed by `empty` empty ones.
inline std::vector<spool::task> tasks(int good, int empty) {
    std::vector<spool::task> all;
    for (int i = 0; i < good + empty; ++i) {
        all.emplace_back();
        if (i < good) {
            all.back() = [] {};
        }
    }
    return all;
}

/// A predicate: equal to `n`.
inline auto is(int n) {
    return [n](int element) { return element == n; };
}
/// A predicate: among the first `n` numbers.
inline auto below(int n) {
    return [n](int element) { return element < n; };
}

/// The head of the queue, if there is one; the queue keeps it.
template <class Queue>
std::optional<int> head_of(const Queue& queue) {
    std::optional<int> seen;
    const bool answer = queue.peek([&](int n) { seen = n; });
    EXPECT_EQ(answer, seen.has_value());
    return seen;
}

/// What for_each shows.
template <class Queue>
std::vector<int> visited(const Queue& queue) {
    std::vector<int> seen;
    queue.for_each([&](int n) { seen.push_back(n); });
    return seen;
}

/// Everything that can be polled now.
template <class Queue>
std::vector<int> polled(Queue& queue) {
    std::vector<int> out;
    while (std::optional<int> n = queue.poll()) {
        out.push_back(*n);
    }
    return out;
}

inline std::vector<int> sorted(std::vector<int> all) {
    std::sort(all.begin(), all.end());
    return all;
}

// ---- Checks

template <class Queue>
void expect_empty(Queue& queue) {
    EXPECT_TRUE(queue.empty());
    EXPECT_EQ(queue.size(), 0U);
    EXPECT_EQ(head_of(queue), std::nullopt);
    EXPECT_EQ(queue.poll(), std::nullopt);
    EXPECT_EQ(queue.poll_for(std::chrono::seconds{0}), std::nullopt);
    EXPECT_EQ(queue.poll_for(std::chrono::hours{-1}), std::nullopt);
    EXPECT_TRUE(queue.to_vector().empty());
    EXPECT_TRUE(visited(queue).empty());
}

/// Expects that `wait(short_delay())` lasts at least the short delay. `wait` checks its own result.
template <class Wait>
void expect_waits_out(Wait wait) {
    const auto took = time_of([&] { wait(short_delay()); });
    EXPECT_GE(took, short_delay());
    EXPECT_LT(took, long_delay());
}

template <class F>
void expect_no_waiting(F f) {
    EXPECT_LT(time_of(f), long_delay());
}

}  // namespace test
