// The lock-free queues under producers, takers, and everything that stops both ends: nothing lost, nothing twice, each
// producer's elements in order. Over a million elements per kind; fewer under ThreadSanitizer.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "race/queue/fifo_rounds.hpp"
#include "spool/queue/array_blocking_queue.hpp"
#include "spool/queue/linked_blocking_queue.hpp"

namespace {

using test::dice;
using test::element;
using test::round_shape;

#if defined(__SANITIZE_THREAD__)
constexpr std::uint32_t elements = 12'000;
#elif defined(__SANITIZE_ADDRESS__)
constexpr std::uint32_t elements = 60'000;
#else
constexpr std::uint32_t elements = 240'000;
#endif

constexpr round_shape shapes[] = {
    {1, 1, elements}, {1, 4, elements}, {4, 1, elements / 4}, {2, 3, elements / 2}, {4, 4, elements / 4},
};

template <class Queue, class Extra>
void run_all_shapes(Extra extra, std::size_t capacity, std::uint32_t part = 1) {
    const std::uint32_t seed = test::new_seed();
    for (round_shape shape : shapes) {
        shape.per_producer /= part;
        {
            Queue queue{capacity};
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

TEST(fifo_race, linked_queue_without_limit_loses_and_doubles_nothing) {
    using queue = spool::linked_blocking_queue<element>;
    run_all_shapes<queue>(nothing_more, queue::unlimited);
}

TEST(fifo_race, linked_queue_of_two_slot_segments_loses_and_doubles_nothing) {
    using queue = spool::linked_blocking_queue<element, 2>;
    run_all_shapes<queue>(nothing_more, queue::unlimited);
}

TEST(fifo_race, linked_queue_whose_capacity_changes_loses_and_doubles_nothing) {
    using queue = spool::linked_blocking_queue<element, 2>;
    run_all_shapes<queue>([](queue& q, dice& d) { change_capacity(q, d); }, 50);
}

TEST(fifo_race, bounded_linked_queue_loses_and_doubles_nothing) {
    run_all_shapes<spool::linked_blocking_queue<element>>(nothing_more, 10);
}

TEST(fifo_race, array_queue_loses_and_doubles_nothing) {
    run_all_shapes<spool::array_blocking_queue<element>>(nothing_more, 100);
}

TEST(fifo_race, array_queue_of_one_place_loses_and_doubles_nothing) {
    run_all_shapes<spool::array_blocking_queue<element>>(nothing_more, 1, 10);
}

}  // namespace
