// linked_blocking_queue gives its memory back: how much it keeps when it has been drained.
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "spool/base/task.hpp"
#include "spool/queue/linked_blocking_queue.hpp"
#include "support/eventually.hpp"
#include "support/tracked.hpp"
#include "unit/sync/in_background.hpp"

namespace {

long resident_kilobytes() {
    std::ifstream status{"/proc/self/status"};
    for (std::string word; status >> word;) {
        if (word == "RssAnon:") {
            long value = 0;
            status >> value;
            return value;
        }
    }
    return -1;
}

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

TEST(linked_memory, queue_polled_while_empty_comes_down_to_two_segments) {
    spool::linked_blocking_queue<int, 2> queue;
    fill(queue, 1000);
    EXPECT_GE(queue.segment_count(), 500U);
    queue.clear();
    EXPECT_TRUE(test::eventually([&] {
        EXPECT_EQ(queue.poll(), std::nullopt);
        return queue.segment_count() <= 2;
    }));
}

TEST(linked_memory, consumer_that_waits_brings_the_queue_down_to_two_segments) {
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

TEST(linked_memory, two_million_drained_tasks_give_back_nine_tenths_within_a_second) {
    constexpr int count = 2'000'000;
    spool::linked_blocking_queue<spool::task> queue;
    const long before = resident_kilobytes();
    for (int n = 0; n < count; ++n) {
        queue.put([n] { static_cast<void>(n); });
    }
    const long full = resident_kilobytes();
    ASSERT_GT(full - before, count / 1024 * 60);
    while (queue.poll().has_value()) {}
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{1};
    long left = 0;
    do {
        static_cast<void>(queue.poll_for(std::chrono::milliseconds{20}));
        left = resident_kilobytes() - before;
    } while (left * 10 > full - before && std::chrono::steady_clock::now() < end);
    EXPECT_LE(left * 10, full - before) << full - before << " kB grown, " << left << " kB kept";
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
