// Tasks in a work_stealing_queue: those that can be moved as bytes take a faster path than those
// whose callable has to be moved by its constructor.
#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "spool/base/task.hpp"
#include "spool/queue/work_stealing_queue.hpp"

namespace {

using spool::task;
using queue_of_tasks = spool::work_stealing_queue<task>;

// Counts only if its move constructor moved it: a copy of its bytes would point to the old object.
class at_home {
public:
    explicit at_home(int& count) : count_(count) {}
    at_home(at_home&& other) noexcept : count_(other.count_) {}
    at_home& operator=(at_home&&) = delete;
    void operator()() const { count_ += self_ == this ? 1 : 0; }

private:
    int& count_;
    const at_home* self_ = this;
};

// The calling thread has a deque of its own.
class work_stealing_tasks : public testing::Test {
protected:
    work_stealing_tasks() { queue_.attach_consumer(); }
    work_stealing_tasks(const work_stealing_tasks&) = delete;
    work_stealing_tasks& operator=(const work_stealing_tasks&) = delete;
    ~work_stealing_tasks() override { queue_.detach_consumer(); }

    void run_next() {
        task next;
        ASSERT_TRUE(queue_.poll_into(next));
        next();
    }

    queue_of_tasks queue_;
    int count_ = 0;
};

TEST_F(work_stealing_tasks, those_that_must_be_asked_arrive_whole_among_those_that_need_not) {
    constexpr int each = 1000;  // the ring grows, and spare nodes run out
    for (int round = 0; round < 2; ++round) {
        count_ = 0;
        for (int i = 0; i < each; ++i) {
            queue_.put(at_home{count_});
            queue_.put([counter = &count_] { ++*counter; });
        }
        for (int i = 0; i < 2 * each; ++i) {
            run_next();
        }
        EXPECT_EQ(count_, 2 * each);
        EXPECT_TRUE(queue_.empty());
    }
}

TEST_F(work_stealing_tasks, the_newest_comes_first) {
    std::vector<int> order;
    for (int i = 1; i <= 3; ++i) {
        queue_.put([&order, i] { order.push_back(i); });
    }
    for (int i = 1; i <= 3; ++i) {
        run_next();
    }
    EXPECT_EQ(order, (std::vector{3, 2, 1}));
}

// A thief keeps the nodes that it steals. So it may have a spare node while its own ring is full.
TEST_F(work_stealing_tasks, a_full_ring_grows_though_there_are_spare_nodes) {
    const auto count = [counter = &count_] { ++*counter; };
    const auto put = [&](int many) {
        for (int i = 0; i < many; ++i) {
            queue_.put(count);
        }
    };
    std::jthread{[&] {
        queue_.attach_consumer();
        put(256);
        queue_.detach_consumer();
    }}.join();
    put(100);
    for (int i = 0; i < 256; ++i) {
        ASSERT_TRUE(queue_.use_other([](task& other) { return other(), true; }));
    }
    put(200);
    EXPECT_EQ(queue_.size(), 300U);
    for (int i = 0; i < 300; ++i) {
        run_next();
    }
    EXPECT_EQ(count_, 556);
}

TEST_F(work_stealing_tasks, a_thief_gets_them_whole) {
    queue_.put(at_home{count_});
    queue_.put([counter = &count_] { ++*counter; });
    std::jthread{[this] {
        run_next();
        run_next();
    }}.join();
    EXPECT_EQ(count_, 2);
}

TEST_F(work_stealing_tasks, what_the_variable_held_is_destroyed) {
    const auto held = std::make_shared<int>(0);
    queue_.put([counter = &count_] { ++*counter; });
    queue_.put(at_home{count_});
    for (int i = 0; i < 2; ++i) {
        task next = [held] { ++*held; };
        ASSERT_EQ(held.use_count(), 2);
        ASSERT_TRUE(queue_.poll_into(next));
        EXPECT_EQ(held.use_count(), 1);
        next();
    }
    EXPECT_EQ(count_, 2);
    EXPECT_EQ(*held, 0);
}

TEST_F(work_stealing_tasks, a_variable_keeps_what_it_held_if_there_is_none) {
    task next = [counter = &count_] { ++*counter; };
    EXPECT_FALSE(queue_.poll_into(next));
    next();
    EXPECT_EQ(count_, 1);
}

}  // namespace
