// The two ends of a linked_blocking_deque, so that one suite can test both.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "contract/queue/contract.hpp"

namespace test {

struct front_end {
    static constexpr const char* name = "front";

    template <class Deque, class T>
    static bool offer(Deque& deque, T x) {
        return deque.offer_first(std::move(x));
    }
    template <class Deque, class T, class... Stop>
    static void put(Deque& deque, T x, Stop... stop) {
        deque.put_first(std::move(x), stop...);
    }
    template <class Deque, class T, class Duration, class... Stop>
    static bool offer_for(Deque& deque, T x, Duration d, Stop... stop) {
        return deque.offer_first_for(std::move(x), d, stop...);
    }
    template <class Deque>
    static auto poll(Deque& deque) {
        return deque.poll_first();
    }
    template <class Deque, class... Stop>
    static auto take(Deque& deque, Stop... stop) {
        return deque.take_first(stop...);
    }
    template <class Deque, class Duration, class... Stop>
    static auto poll_for(Deque& deque, Duration d, Stop... stop) {
        return deque.poll_first_for(d, stop...);
    }
    template <class Deque, class Look>
    static bool peek(const Deque& deque, Look look) {
        return deque.peek_first(look);
    }
    template <class Deque, class Predicate>
    static bool remove_if(Deque& deque, Predicate doomed) {
        return deque.remove_first_if(doomed);
    }
    /// The elements in the order in which this end sees them.
    static std::vector<int> seen_from_here(std::vector<int> from_the_front) { return from_the_front; }
};

struct back_end {
    static constexpr const char* name = "back";

    template <class Deque, class T>
    static bool offer(Deque& deque, T x) {
        return deque.offer_last(std::move(x));
    }
    template <class Deque, class T, class... Stop>
    static void put(Deque& deque, T x, Stop... stop) {
        deque.put_last(std::move(x), stop...);
    }
    template <class Deque, class T, class Duration, class... Stop>
    static bool offer_for(Deque& deque, T x, Duration d, Stop... stop) {
        return deque.offer_last_for(std::move(x), d, stop...);
    }
    template <class Deque>
    static auto poll(Deque& deque) {
        return deque.poll_last();
    }
    template <class Deque, class... Stop>
    static auto take(Deque& deque, Stop... stop) {
        return deque.take_last(stop...);
    }
    template <class Deque, class Duration, class... Stop>
    static auto poll_for(Deque& deque, Duration d, Stop... stop) {
        return deque.poll_last_for(d, stop...);
    }
    template <class Deque, class Look>
    static bool peek(const Deque& deque, Look look) {
        return deque.peek_last(look);
    }
    template <class Deque, class Predicate>
    static bool remove_if(Deque& deque, Predicate doomed) {
        return deque.remove_last_if(doomed);
    }
    static std::vector<int> seen_from_here(std::vector<int> from_the_front) {
        std::reverse(from_the_front.begin(), from_the_front.end());
        return from_the_front;
    }
};

using both_ends = testing::Types<front_end, back_end>;

/// The element at this end, if there is one.
template <class End, class Deque>
std::optional<int> element_at(const Deque& deque) {
    std::optional<int> seen;
    const bool answer = End::peek(deque, [&](int n) { seen = n; });
    EXPECT_EQ(answer, seen.has_value());
    return seen;
}

}  // namespace test
