// Tasks that run inside the wait of another task nest only as deep as the stack allows.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <thread>

#include <gtest/gtest.h>

#include "pool/threads/stack_room.hpp"
#include "pool_helpers.hpp"
#include "support/stack_frame.hpp"

namespace {

constexpr std::size_t kib = 1024;

// A pool of one worker with this stack size. When that worker waits for a task that it cannot run
// itself, the pool grows until each level can have a worker.
class nesting_pool {
public:
    explicit nesting_pool(std::size_t stack_size)
        : pool_({.core_size = 1,
                 .thread_factory = spool::worker_thread_factory({.stack_size = stack_size}),
                 .on_deadlock = spool::deadlock_policy::report([this](const spool::deadlock_report&) {
                     grew_ = true;
                     pool_.set_maximum_size(2 * most_levels);
                     pool_.set_core_size(2 * most_levels);
                 })}) {}
    static constexpr int most_levels = 400;

    [[nodiscard]] spool::thread_pool_executor& pool() { return pool_; }
    [[nodiscard]] bool grew() const { return grew_; }
    /// How many levels ran on the first worker.
    [[nodiscard]] std::size_t nested() const { return threads_.count(threads_.all().front()); }

    /// Runs a task that waits for the task of the next level, and so on.
    template <std::size_t Frame>
    int by_futures(int levels) {
        threads_.add(std::this_thread::get_id());
        return levels == 1 ? 1 : test::with_frame<Frame>([&] {
            return 1 + pool_.submit([this, levels] { return by_futures<Frame>(levels - 1); }).get();
        });
    }
    template <std::size_t Frame>
    int by_groups(int levels) {
        threads_.add(std::this_thread::get_id());
        return levels == 1 ? 1 : test::with_frame<Frame>([&] {
            int below = 0;
            spool::task_group group{pool_};
            group.run([this, levels, &below] { below = by_groups<Frame>(levels - 1); });
            group.wait();
            return 1 + below;
        });
    }

private:
    std::atomic<bool> grew_{false};
    test::record<std::thread::id> threads_;
    spool::thread_pool_executor pool_;
};

}  // namespace

TEST(pool_stack_room, nested_waits_leave_to_other_workers_what_does_not_fit_a_small_stack) {
    nesting_pool small{256 * kib};
    const auto chain = small.pool().submit([&] { return small.by_futures<kib * 3 / 2>(256); });
    ASSERT_TRUE(chain.wait_for(test::long_delay()));
    EXPECT_EQ(chain.get(), 256);
    EXPECT_TRUE(small.grew());
    EXPECT_GT(small.nested(), 8U);
    EXPECT_LT(small.nested(), 160U);  // at 1.5 KiB each, the reserve was not used
    ASSERT_TRUE(test::ends(small.pool()));
    EXPECT_EQ(small.pool().completed_task_count(), 256U);
}

TEST(pool_stack_room, nested_waits_of_large_frames_leave_the_rest_to_other_workers) {
    nesting_pool usual{8 * kib * kib};
    const auto chain = usual.pool().submit([&] { return usual.by_futures<96 * kib>(200); });
    ASSERT_TRUE(chain.wait_for(test::long_delay()));
    EXPECT_EQ(chain.get(), 200);
    ASSERT_TRUE(test::ends(usual.pool()));
}

TEST(pool_stack_room, the_wait_of_a_group_leaves_to_other_workers_what_does_not_fit_a_small_stack) {
    nesting_pool small{256 * kib};
    const auto chain = small.pool().submit([&] { return small.by_groups<kib * 3 / 2>(256); });
    ASSERT_TRUE(chain.wait_for(test::long_delay()));
    EXPECT_EQ(chain.get(), 256);
    EXPECT_TRUE(small.grew());
    EXPECT_GT(small.nested(), 8U);
    ASSERT_TRUE(test::ends(small.pool()));
}

// Far deeper than any fixed limit would allow: the stack is large enough for all levels.
TEST(pool_stack_room, nested_waits_go_as_deep_as_the_stack_allows) {
    nesting_pool large{256 * kib * kib};
    const auto chain = large.pool().submit([&] { return large.by_futures<kib>(3000); });
    ASSERT_TRUE(chain.wait_for(test::long_delay()));
    EXPECT_EQ(chain.get(), 3000);
    EXPECT_FALSE(large.grew());
    EXPECT_EQ(large.nested(), 3000U);
    ASSERT_TRUE(test::ends(large.pool()));
}

TEST(pool_stack_room, is_there_again_after_the_nested_tasks_have_ended) {
    nesting_pool small{256 * kib};
    const auto often = small.pool().submit([&] {
        int total = 0;
        for (int i = 0; i < 100; ++i) {
            total += small.by_futures<kib>(8);
        }
        return total;
    });
    ASSERT_TRUE(often.wait_for(test::long_delay()));
    EXPECT_EQ(often.get(), 800);
    EXPECT_FALSE(small.grew());
    ASSERT_TRUE(test::ends(small.pool()));
}

TEST(pool_stack_room, reserves_a_quarter_of_the_stack_and_not_less_than_64_KiB) {
    using spool::stack_room;
    EXPECT_EQ(stack_room::reserve_of(8 * kib * kib), 2 * kib * kib);
    EXPECT_EQ(stack_room::reserve_of(256 * kib), 64 * kib);
    EXPECT_EQ(stack_room::reserve_of(160 * kib), 64 * kib);
    EXPECT_EQ(stack_room::reserve_of(64 * kib), 32 * kib);
}

TEST(pool_stack_room, goes_by_the_depth_on_a_stack_that_is_not_the_threads_own) {
    const spool::stack_room unknown;
    const spool::stack_room elsewhere{4096, 8192};
    std::atomic<std::uint32_t> depth{255};
    EXPECT_TRUE(unknown.has_room(depth));
    EXPECT_TRUE(elsewhere.has_room(depth));
    depth = 256;
    EXPECT_FALSE(unknown.has_room(depth));
    EXPECT_FALSE(elsewhere.has_room(depth));
    EXPECT_FALSE(unknown.is_exhausted());
    EXPECT_FALSE(elsewhere.is_exhausted());
}
