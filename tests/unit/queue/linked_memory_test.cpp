// linked_blocking_queue frees its memory: how much it keeps after it was drained.
#include <gtest/gtest.h>

#include <atomic>
#include <optional>

#include "spool/queue/linked_blocking_queue.hpp"
#include "support/eventually.hpp"
#include "support/tracked.hpp"
#include "unit/sync/in_background.hpp"

namespace {

template <class Queue>
void fill(Queue& queue, int count) {
    for (int n = 0; n < count; ++n) {
        queue.put(int{n});
    }
}

TEST(linked_memory, steady_use_needs_no_more_segments) {
    spool::linked_blocking_queue<int, 2> queue;
    for (int n = 0; n < 1000; ++n) {
        queue.put(int{n});
        queue.put(int{n});
        ASSERT_EQ(queue.poll(), n);
        ASSERT_EQ(queue.poll(), n);
        ASSERT_LE(queue.segment_count(), 4U);
    }
}

TEST(linked_memory, queue_polled_while_empty_shrinks_to_two_segments) {
    spool::linked_blocking_queue<int, 2> queue;
    fill(queue, 1000);
    EXPECT_GE(queue.segment_count(), 500U);
    queue.clear();
    EXPECT_TRUE(test::eventually([&] {
        EXPECT_EQ(queue.poll(), std::nullopt);
        return queue.segment_count() <= 2;
    }));
}

TEST(linked_memory, waiting_consumer_shrinks_the_queue_to_two_segments) {
    spool::linked_blocking_queue<int, 2> queue;
    fill(queue, 100);
    test::in_background consumer{[&] {
        for (int n = 0; n < 101; ++n) {
            EXPECT_LE(queue.take(), n);
        }
    }};
    EXPECT_TRUE(test::eventually([&] { return queue.segment_count() <= 2; }));
    queue.put(0);
    EXPECT_TRUE(consumer.ends());
}

TEST(linked_memory, destroyed_queue_destroys_its_elements) {
    std::atomic<int> alive{0};
    {
        spool::linked_blocking_queue<test::tracked, 2> queue;
        for (int n = 0; n < 11; ++n) {
            queue.put(test::tracked{alive});
        }
        static_cast<void>(queue.poll());
        EXPECT_EQ(alive, 10);
    }
    EXPECT_EQ(alive, 0);
}

}  // namespace
