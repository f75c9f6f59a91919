// submit_blocks and submit_loop: loops that do not wait.
#include <numeric>

#include <gtest/gtest.h>

#include "parallel_helpers.hpp"
#include "support/tracked.hpp"

namespace {

class submitted_loop : public testing::Test {
protected:
    spool::thread_pool_executor pool = spool::fixed_thread_pool(2);
};

TEST_F(submitted_loop, blocks_give_their_results_in_the_order_of_the_range) {
    const auto sum = [](int b, int e) {
        int s = 0;
        for (int i = b; i < e; ++i) {
            s += i;
        }
        return s;
    };
    auto futures = spool::submit_blocks(pool, 0, 10, sum, {.chunks = 3});
    ASSERT_EQ(futures.size(), 3U);
    EXPECT_EQ(futures[0].get(), 0 + 1 + 2 + 3);
    EXPECT_EQ(futures[1].get(), 4 + 5 + 6);
    EXPECT_EQ(futures[2].get(), 7 + 8 + 9);
}

TEST_F(submitted_loop, blocks_of_an_empty_range_are_none) {
    EXPECT_TRUE(spool::submit_blocks(pool, 5, 5, [](int, int) {}).empty());
    EXPECT_TRUE(spool::submit_blocks(pool, 5, 2, [](int, int) {}, {.chunks = 3}).empty());
}

TEST_F(submitted_loop, blocks_respect_the_grain) {
    EXPECT_EQ(spool::submit_blocks(pool, 0, 10, [](int, int) {}, {.grain = 4, .chunks = 10}).size(), 2U);
    EXPECT_EQ(spool::submit_blocks(pool, 0, 10, [](int, int) {}, {.grain = 100}).size(), 1U);
}

TEST_F(submitted_loop, a_direct_executor_runs_the_blocks_at_once) {
    spool::direct_executor here;
    int calls = 0;
    auto futures = spool::submit_blocks(here, 0, 4, [&](int, int) { ++calls; }, {.chunks = 4});
    EXPECT_EQ(calls, 4);
    EXPECT_TRUE(futures.back().is_done());
}

TEST_F(submitted_loop, a_refusal_cancels_the_blocks_that_were_submitted) {
    std::atomic<int> alive{0};
    {
        auto options = test::loop_pool(1, std::make_unique<spool::array_blocking_queue<spool::task>>(2));
        options.rejection = spool::abort_policy{};
        spool::thread_pool_executor small(std::move(options));
        std::atomic<int> ran{0};
        {
            const test::busy_workers busy{small, 1};
            const auto body = [&ran, t = test::tracked{alive}](int, int) { ++ran; };
            EXPECT_THROW((void)spool::submit_blocks(small, 0, 10, body, {.chunks = 10}),
                         spool::rejected_execution);
        }
        small.shutdown();
        EXPECT_TRUE(small.await_termination(test::long_delay()));
        EXPECT_EQ(ran, 0);
    }
    EXPECT_EQ(alive, 0);
}

TEST_F(submitted_loop, one_future_stands_for_the_whole_loop) {
    std::vector<std::atomic<int>> visits(1000);
    spool::future<void> all =
        spool::submit_loop(pool, 0, 1000, [&](int i) { ++visits[static_cast<std::size_t>(i)]; });
    all.get_for(test::long_delay());
    EXPECT_TRUE(std::all_of(visits.begin(), visits.end(), [](const auto& v) { return v == 1; }));
}

TEST_F(submitted_loop, the_future_delivers_the_exception) {
    auto all = spool::submit_loop(pool, 0, 100, [](int i) {
        if (i == 40) {
            throw std::domain_error("40");
        }
    });
    EXPECT_THROW(all.get_for(test::long_delay()), std::domain_error);
}

TEST_F(submitted_loop, cancelling_the_future_stops_the_loop) {
    test::gate begun;
    std::atomic<int> calls{0};
    auto all = spool::submit_loop(pool, 0, 1000000, [&](int) {
        begun.open();
        ++calls;
        test::work_a_little();
    });
    ASSERT_TRUE(begun.opens());
    all.cancel();
    pool.shutdown();
    EXPECT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_LT(calls, 1000000);
}

TEST_F(submitted_loop, a_stop_token_cancels_both_forms) {
    std::stop_source stop;
    stop.request_stop();
    std::atomic<int> calls{0};
    auto all = spool::submit_loop(pool, 0, 10, [&](int) { ++calls; }, {.stop = stop.get_token()});
    auto blocks = spool::submit_blocks(pool, 0, 10, [&](int, int) { ++calls; }, {.stop = stop.get_token()});
    EXPECT_TRUE(all.is_cancelled());
    EXPECT_TRUE(std::all_of(blocks.begin(), blocks.end(), [](const auto& f) { return f.is_cancelled(); }));
    EXPECT_EQ(calls, 0);
}

TEST_F(submitted_loop, a_pool_of_one_is_enough_for_a_task_that_waits_for_it) {
    spool::thread_pool_executor one = spool::fixed_thread_pool(1);
    std::atomic<int> calls{0};
    one.submit([&] { spool::submit_loop(one, 0, 100, [&](int) { ++calls; }).get(); })
        .get_for(test::long_delay());
    EXPECT_EQ(calls, 100);
}

}  // namespace
