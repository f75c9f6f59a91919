// work_stealing_queue on few threads: which element comes out when, which thread inherits
// leftovers, and that no element waits forever.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "spool/queue/work_stealing_queue.hpp"
#include "support/tracked.hpp"
#include "unit/sync/in_background.hpp"

namespace {

using spool::work_stealing_queue;
using queue_of_int = work_stealing_queue<int>;

// Attaches the calling thread to the queue as a consumer, for the lifetime of the object.
template <class T>
class attached {
public:
    explicit attached(work_stealing_queue<T>& queue) : queue_(queue) { queue_.attach_consumer(); }
    attached(const attached&) = delete;
    attached& operator=(const attached&) = delete;
    ~attached() { queue_.detach_consumer(); }

private:
    work_stealing_queue<T>& queue_;
};

template <class F>
void on_another_thread(F f) {
    std::jthread{f}.join();
}

void put_all(queue_of_int& queue, int first, int last) {
    for (int i = first; i <= last; ++i) {
        queue.put(int{i});
    }
}

std::vector<int> poll_all(queue_of_int& queue) {
    std::vector<int> all;
    while (const std::optional<int> n = queue.poll()) {
        all.push_back(*n);
    }
    return all;
}

TEST(work_stealing_order, consumer_takes_its_own_newest_first) {
    queue_of_int queue;
    const attached me{queue};
    put_all(queue, 1, 5);
    EXPECT_EQ(poll_all(queue), (std::vector{5, 4, 3, 2, 1}));
    EXPECT_TRUE(queue.empty());
}

TEST(work_stealing_order, others_steal_the_oldest_first_and_the_newest_too) {
    queue_of_int queue;
    const attached me{queue};
    put_all(queue, 1, 3);
    on_another_thread([&] {  // first without being attached, then attached
        EXPECT_EQ(queue.poll(), 1);
        const attached thief{queue};
        EXPECT_EQ(queue.poll(), 2);
        EXPECT_EQ(queue.poll(), 3);
        EXPECT_EQ(queue.poll(), std::nullopt);
    });
    EXPECT_EQ(queue.poll(), std::nullopt);
}

TEST(work_stealing_order, threads_that_are_not_attached_use_the_inbox_first_in_first_out) {
    queue_of_int queue;
    put_all(queue, 1, 5);
    EXPECT_EQ(queue.inbox_size(), 5U);
    EXPECT_EQ(poll_all(queue), (std::vector{1, 2, 3, 4, 5}));
}

TEST(work_stealing_order, own_comes_before_the_inbox_and_the_inbox_before_the_others) {
    queue_of_int queue;
    put_all(queue, 1, 1);
    on_another_thread([&] {
        queue.attach_consumer();
        put_all(queue, 2, 2);
        queue.detach_consumer();
        const attached second{queue};  // inherits the deque with 2 in it
        on_another_thread([&] {
            const attached third{queue};
            put_all(queue, 3, 3);
            EXPECT_EQ(poll_all(queue), (std::vector{3, 1, 2}));
        });
    });
}

TEST(work_stealing_order, victims_take_turns) {
    queue_of_int queue;
    const attached one{queue};
    put_all(queue, 1, 2);
    const attached two{queue};
    put_all(queue, 11, 12);
    on_another_thread([&] {
        const attached thief{queue};
        EXPECT_EQ(poll_all(queue), (std::vector{11, 1, 12, 2}));
    });
}

TEST(work_stealing_inbox, a_million_added_by_a_consumer_never_touch_it) {
    constexpr int many = 1'000'000;
    queue_of_int queue;
    const attached me{queue};
    put_all(queue, 1, many);
    EXPECT_EQ(queue.inbox_size(), 0U);
    EXPECT_EQ(queue.size(), static_cast<std::size_t>(many));
    long long sum = 0;
    while (const std::optional<int> n = queue.poll()) {
        sum += *n;
    }
    EXPECT_EQ(sum, static_cast<long long>(many) * (many + 1) / 2);
}

// ---- Detaching

TEST(work_stealing_leaving, leftovers_go_to_the_next_that_attaches) {
    queue_of_int queue;
    on_another_thread([&] {
        const attached first{queue};
        put_all(queue, 1, 3);
    });
    EXPECT_EQ(queue.size(), 3U);
    EXPECT_EQ(queue.inbox_size(), 0U);
    const attached heir{queue};
    put_all(queue, 4, 4);
    EXPECT_EQ(poll_all(queue), (std::vector{4, 3, 2, 1}));  // like its own: newest first
}

TEST(work_stealing_leaving, leftovers_are_there_for_threads_that_never_attach) {
    queue_of_int queue;
    on_another_thread([&] {
        const attached first{queue};
        put_all(queue, 1, 3);
    });
    EXPECT_EQ(poll_all(queue), (std::vector{1, 2, 3}));
}

TEST(work_stealing_leaving, one_who_left_uses_the_inbox_again) {
    queue_of_int queue;
    queue.detach_consumer();  // was never attached: does nothing
    queue.attach_consumer();
    put_all(queue, 1, 1);
    queue.detach_consumer();
    put_all(queue, 2, 3);
    EXPECT_EQ(queue.inbox_size(), 2U);
    EXPECT_EQ(poll_all(queue), (std::vector{2, 3, 1}));
}

TEST(work_stealing_leaving, attachments_to_several_queues_do_not_mix) {
    queue_of_int one;
    queue_of_int two;
    one.attach_consumer();
    two.attach_consumer();
    put_all(one, 1, 2);
    put_all(two, 11, 12);
    EXPECT_EQ(one.inbox_size() + two.inbox_size(), 0U);
    one.detach_consumer();  // not the innermost attachment
    put_all(one, 3, 3);
    put_all(two, 13, 13);
    EXPECT_EQ(one.inbox_size(), 1U);
    EXPECT_EQ(two.inbox_size(), 0U);
    EXPECT_EQ(poll_all(two), (std::vector{13, 12, 11}));
    two.detach_consumer();
    put_all(two, 14, 14);
    EXPECT_EQ(two.inbox_size(), 1U);
}

TEST(work_stealing_leaving, inner_attachment_to_the_same_queue_leaves_the_outer_one) {
    queue_of_int queue;
    const attached outer{queue};
    put_all(queue, 1, 2);
    {
        const attached inner{queue};
        put_all(queue, 3, 4);
    }
    put_all(queue, 5, 5);
    EXPECT_EQ(queue.inbox_size(), 0U);
    // The elements of the inner attachment are stolen.
    EXPECT_EQ(poll_all(queue), (std::vector{5, 2, 1, 3, 4}));
}

// ---- No element waits forever

// Adds two elements and takes one, over and over, until `stranger` comes out. Returns how many
// others came out before.
int others_before(queue_of_int& queue, int stranger) {
    int others = 0;
    for (; others < 10'000; ++others) {
        queue.put(1);
        queue.put(1);
        if (queue.take() == stranger) {
            break;
        }
    }
    return others;
}

TEST(work_stealing_fairness, outsiders_element_comes_soon_though_the_consumer_goes_on_adding) {
    queue_of_int queue;
    const attached me{queue};
    on_another_thread([&] { queue.put(-1); });
    EXPECT_LE(others_before(queue, -1), 61);
}

TEST(work_stealing_fairness, own_oldest_comes_soon_though_the_consumer_goes_on_adding) {
    queue_of_int queue;
    const attached me{queue};
    queue.put(-1);
    EXPECT_LE(others_before(queue, -1), 976);
}

TEST(work_stealing_fairness, leftovers_come_soon_though_the_consumer_goes_on_adding) {
    queue_of_int queue;
    const attached me{queue};
    on_another_thread([&] {
        const attached other{queue};
        queue.put(-1);
    });
    EXPECT_LE(others_before(queue, -1), 2 * 976);  // the two deques take turns
}

// ---- Waiting, and the lifetime of elements

TEST(work_stealing_waiting, sleeping_taker_is_woken_by_a_consumer_that_adds) {
    queue_of_int queue;
    const attached me{queue};
    int taken = 0;
    test::in_background taker{[&] { taken = queue.take(); }};
    ASSERT_TRUE(taker.falls_asleep());
    queue.put(7);
    ASSERT_TRUE(taker.ends());
    EXPECT_EQ(taken, 7);
}

TEST(work_stealing_waiting, sleeping_taker_is_woken_by_a_consumer_that_attached_meanwhile) {
    queue_of_int queue;
    int taken = 0;
    test::in_background taker{[&] { taken = queue.take(); }};
    ASSERT_TRUE(taker.falls_asleep());
    const attached me{queue};
    queue.put(7);
    ASSERT_TRUE(taker.ends());
    EXPECT_EQ(taken, 7);
}

TEST(work_stealing_elements, move_only_elements_work_everywhere) {
    work_stealing_queue<std::unique_ptr<int>> queue;
    queue.put(std::make_unique<int>(1));
    const attached me{queue};
    queue.put(std::make_unique<int>(2));
    queue.put(std::make_unique<int>(3));
    EXPECT_EQ(queue.remove_if([](const auto& p) { return *p == 2; }), 1U);
    EXPECT_EQ(*queue.take(), 3);
    EXPECT_EQ(*queue.take(), 1);
}

TEST(work_stealing_elements, each_is_destroyed_once_wherever_it_was) {
    std::atomic<int> alive{0};
    {
        work_stealing_queue<std::unique_ptr<test::tracked>> queue;
        const auto put = [&](int count) {
            for (int i = 0; i < count; ++i) {
                queue.put(std::make_unique<test::tracked>(alive));
            }
        };
        put(10);
        on_another_thread([&] {
            const attached other{queue};
            put(1000);
        });
        const attached me{queue};
        put(10);
        for (int i = 0; i < 600; ++i) {
            EXPECT_NE(queue.take(), nullptr);
        }
        EXPECT_EQ(alive, 420);
        int asked = 0;
        EXPECT_EQ(queue.remove_if([&](const auto&) { return ++asked % 2 == 0; }), 210U);
        EXPECT_EQ(alive, 210);
    }
    EXPECT_EQ(alive, 0);
}

// Counts every live object, including moved-from ones.
class counted {
public:
    explicit counted(int& alive) noexcept : alive_(&alive) { ++*alive_; }
    counted(counted&& other) noexcept : counted(*other.alive_) {}
    counted& operator=(counted&&) noexcept { return *this; }
    ~counted() { --*alive_; }

private:
    int* alive_;
};

TEST(work_stealing_elements, what_is_left_of_one_that_was_taken_is_destroyed_too) {
    int alive = 0;
    work_stealing_queue<counted> queue;
    const attached me{queue};
    for (int i = 0; i < 3; ++i) {
        queue.put(counted{alive});
    }
    EXPECT_EQ(alive, 3);
    static_cast<void>(queue.take());
    EXPECT_EQ(alive, 2);
    on_another_thread([&] { static_cast<void>(queue.take()); });
    EXPECT_EQ(alive, 1);
    queue.clear();
    EXPECT_EQ(alive, 0);
}

TEST(work_stealing_elements, capacity_is_unlimited) {
    EXPECT_EQ(queue_of_int{}.remaining_capacity(), queue_of_int::unlimited);
}

}  // namespace
