// Every kind of queue with producers, takers, and a thread that removes, drains and looks. No
// element is lost or comes twice, and each producer's elements stay in order if the kind promises
// that. Over a million elements per kind, fewer under sanitizers and for slow kinds.
// SPOOL_RACE_ELEMENTS sets the number per round.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "race/queue/queue_rounds.hpp"
#include "spool/queue/array_blocking_queue.hpp"
#include "spool/queue/delay_queue.hpp"
#include "spool/queue/linked_blocking_deque.hpp"
#include "spool/queue/linked_blocking_queue.hpp"
#include "spool/queue/linked_transfer_queue.hpp"
#include "spool/queue/priority_blocking_queue.hpp"
#include "spool/queue/synchronous_queue.hpp"

namespace {

using test::dice;
using test::element;
using test::round_shape;

#if defined(__SANITIZE_THREAD__)
constexpr std::uint32_t usual_elements = 30'000;
#elif defined(__SANITIZE_ADDRESS__)
constexpr std::uint32_t usual_elements = 60'000;
#else
constexpr std::uint32_t usual_elements = 240'000;
#endif

std::uint32_t elements() {
    const char* text = std::getenv("SPOOL_RACE_ELEMENTS");
    return text != nullptr ? static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10)) : usual_elements;
}

constexpr round_shape shapes[] = {{1, 1}, {1, 4}, {4, 1}, {2, 3}, {4, 4}};

// `part` divides the number of elements, for slow kinds.
template <class Queue, class Extra>
void run_all_shapes(Queue (*make)(), Extra extra, std::uint32_t part = 1) {
    const std::uint32_t seed = test::new_seed();
    for (round_shape shape : shapes) {
        shape.per_producer = elements() / part / shape.producers;
        {
            Queue queue = make();
            test::run_round(queue, shape, seed, [&](dice& d) { extra(queue, d); });
        }
        ASSERT_EQ(test::elements_alive, 0) << "after " << shape.producers << " -> " << shape.takers;
    }
}

template <class Queue>
void change_capacity(Queue& queue, dice& d) {
    const std::size_t capacities[] = {1, 3, 100, 5000, Queue::unlimited};
    queue.set_capacity(capacities[d.roll(5)]);
}
constexpr auto nothing_more = [](auto&, dice&) {};

using linked = spool::linked_blocking_queue<element>;
using linked_in_small_segments = spool::linked_blocking_queue<element, 2>;
using array = spool::array_blocking_queue<element>;

TEST(queue_race, linked_queue_without_limit_loses_and_doubles_nothing) {
    run_all_shapes<linked>([] { return linked{}; }, nothing_more);
}

TEST(queue_race, linked_queue_of_two_slot_segments_loses_and_doubles_nothing) {
    run_all_shapes<linked_in_small_segments>([] { return linked_in_small_segments{}; }, nothing_more);
}

TEST(queue_race, linked_queue_whose_capacity_changes_loses_and_doubles_nothing) {
    run_all_shapes<linked_in_small_segments>([] { return linked_in_small_segments{50}; },
                                             [](auto& queue, dice& d) { change_capacity(queue, d); });
}

TEST(queue_race, bounded_linked_queue_loses_and_doubles_nothing) {
    run_all_shapes<linked>([] { return linked{10}; }, nothing_more);
}

TEST(queue_race, array_queue_loses_and_doubles_nothing) {
    run_all_shapes<array>([] { return array{100}; }, nothing_more);
}

TEST(queue_race, array_queue_of_one_place_loses_and_doubles_nothing) {
    run_all_shapes<array>([] { return array{1}; }, nothing_more, 20);
}

TEST(queue_race, linked_deque_whose_capacity_changes_loses_and_doubles_nothing) {
    using deque = spool::linked_blocking_deque<element>;
    run_all_shapes<deque>([] { return deque{50}; }, [](auto& queue, dice& d) { change_capacity(queue, d); });
}

TEST(queue_race, linked_transfer_queue_loses_and_doubles_nothing) {
    using transfer = spool::linked_transfer_queue<element>;
    run_all_shapes<transfer>([] { return transfer{}; }, nothing_more);
}

// Equal elements come out in the order in which they went in.
struct all_equal {
    bool operator()(const element&, const element&) const { return false; }
};

TEST(queue_race, priority_queue_of_equals_loses_and_doubles_nothing) {
    using priority = spool::priority_blocking_queue<element, all_equal>;
    // A part of the elements: each look sorts.
    run_all_shapes<priority>([] { return priority{}; }, nothing_more, 10);
}

struct always_due {
    spool::due_time operator()(const element&) const { return spool::due_time{}; }
};

TEST(queue_race, delay_queue_of_due_elements_loses_and_doubles_nothing) {
    using delay = spool::delay_queue<element, always_due>;
    // A part of the elements: each look sorts.
    run_all_shapes<delay>([] { return delay{}; }, nothing_more, 10);
}

TEST(queue_race, fair_synchronous_queue_loses_and_doubles_nothing) {
    using hand_off = spool::synchronous_queue<element>;
    run_all_shapes<hand_off>([] { return hand_off{spool::fairness::fair}; }, nothing_more, 20);
}

TEST(queue_race, unfair_synchronous_queue_loses_and_doubles_nothing) {
    using hand_off = spool::synchronous_queue<element>;
    run_all_shapes<hand_off>([] { return hand_off{}; }, nothing_more, 20);
}

}  // namespace
