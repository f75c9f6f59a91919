// What ends a periodic task, and what does not.
#include <gtest/gtest.h>

#include <stdexcept>

#include "schedule_helpers.hpp"
#include "support/throws.hpp"
#include "support/tracked.hpp"

namespace {

using namespace std::chrono_literals;
using spool::on_exception;

struct report {
    std::string worker;
    std::string what;
};

class scheduled_series : public testing::Test {
protected:
    spool::uncaught_policy collecting() {
        return [this](const spool::worker_info& where, const std::exception_ptr& error) {
            reports_.add({where.name, spool::describe(error)});
        };
    }
    test::record<report> reports_;
    test::timed_pool timed_{{.name = "series", .core_size = 1, .uncaught = collecting()}};
};

// ---- Exceptions

TEST_F(scheduled_series, an_exception_is_reported_and_counted_and_the_same_worker_continues_the_series) {
    const auto series = timed_.pool.schedule_at_fixed_rate(
        [n = 0]() mutable {
            if (++n % 2 == 0) {
                throw std::runtime_error("run " + std::to_string(n));
            }
        },
        1s, 1s);
    for (int i = 0; i < 5; ++i) {
        timed_.advance(1s);
    }
    EXPECT_EQ(series.run_count(), 5U);
    EXPECT_EQ(series.failure_count(), 2U);
    EXPECT_FALSE(series.is_done());
    ASSERT_EQ(reports_.size(), 2U);
    EXPECT_TRUE(test::contains(reports_.all()[0].what, "run 2")) << reports_.all()[0].what;
    EXPECT_EQ(reports_.all()[1].worker, "series-1") << "no worker was replaced";
    EXPECT_EQ(timed_.pool.largest_pool_size(), 1U);
}

TEST_F(scheduled_series, an_exception_ends_the_series_if_so_configured_and_get_throws_it) {
    std::atomic<int> alive{0};
    const auto series = timed_.pool.schedule_at_fixed_rate(
        [counted = test::tracked{alive}] { throw std::runtime_error("enough"); }, 1s, 1s,
        {.on_exception = on_exception::stop});
    timed_.advance(1s);
    EXPECT_EQ(test::what_of<std::runtime_error>([&] { series.get(); }), "enough");
    timed_.advance(10s);
    EXPECT_EQ(series.run_count(), 1U);
    EXPECT_EQ(reports_.size(), 0U);
    EXPECT_EQ(timed_.pool.queue().size(), 0U);
    EXPECT_EQ(alive, 0) << "the callable went with the series";
}

TEST_F(scheduled_series, an_exception_of_a_one_shot_task_goes_only_to_its_future) {
    const auto once = timed_.pool.schedule([]() -> int { throw std::runtime_error("mine"); }, 1s);
    timed_.advance(1s);
    EXPECT_EQ(test::what_of<std::runtime_error>([&] { once.get(); }), "mine");
    EXPECT_EQ(reports_.size(), 0U);
    EXPECT_FALSE(once.is_periodic());
    EXPECT_EQ(once.run_count(), 0U);
}

TEST(scheduled_series_death, terminate_ends_the_process_at_the_first_exception_of_a_series) {
    if (test::under_thread_sanitizer) {
        GTEST_SKIP() << "death tests and ThreadSanitizer do not go together";
    }
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto run = [] {
        spool::scheduled_thread_pool_executor pool(
            {.core_size = 1, .uncaught = spool::uncaught_policy::terminate()});
        const auto series =
            pool.schedule_at_fixed_rate([] { throw std::runtime_error("thrown on purpose"); }, 0s, 1h);
        static_cast<void>(series.wait_for(test::long_delay()));
    };
    EXPECT_DEATH(run(), "thrown on purpose");
}

// ---- cancel()

TEST_F(scheduled_series, a_cancel_between_two_runs_removes_the_task_and_its_callable_at_once) {
    std::atomic<int> alive{0};
    const auto series = timed_.pool.schedule_at_fixed_rate([counted = test::tracked{alive}] {}, 1s, 1s);
    timed_.advance(3s);
    EXPECT_EQ(series.run_count(), 3U);
    EXPECT_TRUE(series.cancel());
    EXPECT_FALSE(series.cancel());
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(timed_.pool.queue().size(), 0U);
    timed_.advance(10s);
    EXPECT_EQ(series.run_count(), 3U);
    EXPECT_THROW(series.get(), spool::cancelled);
}

TEST_F(scheduled_series, cancelled_by_its_own_run_it_does_not_come_back) {
    spool::scheduled_future<void> series;
    std::atomic<bool> stop_seen{false};
    series = timed_.pool.schedule_at_fixed_rate(
        [&, n = 0]() mutable {
            if (++n == 2) {
                EXPECT_TRUE(series.cancel());
                stop_seen = spool::this_task::stop_requested();
            }
        },
        1s, 1s);
    timed_.advance(10s);
    EXPECT_TRUE(series.is_cancelled());
    EXPECT_TRUE(stop_seen);
    EXPECT_EQ(series.run_count(), 2U);
    EXPECT_EQ(timed_.pool.queue().size(), 0U);
}

class scheduled_series_under_way : public scheduled_series,
                                   public testing::WithParamInterface<spool::cancel_mode> {};

TEST_P(scheduled_series_under_way, a_cancel_from_outside_stops_the_current_run_or_lets_it_finish) {
    const spool::cancel_mode mode = GetParam();
    test::gate started;
    test::gate go_on;
    const test::open_at_end open{go_on};
    std::atomic<bool> stop_seen{false};
    const auto series = timed_.pool.schedule_at_fixed_rate(
        [&] {
            started.open();
            go_on.wait();
            stop_seen = spool::this_task::stop_requested();
        },
        1s, 1s);
    timed_.clock->advance(1s);
    ASSERT_TRUE(started.opens());
    EXPECT_TRUE(series.cancel(mode));
    EXPECT_TRUE(series.is_done());
    go_on.open();
    timed_.advance(10s);
    EXPECT_EQ(stop_seen, mode == spool::cancel_mode::interrupt);
    EXPECT_EQ(series.run_count(), 1U);
    EXPECT_EQ(timed_.pool.queue().size(), 0U);
}
INSTANTIATE_TEST_SUITE_P(modes, scheduled_series_under_way,
                         testing::Values(spool::cancel_mode::interrupt, spool::cancel_mode::let_run));

TEST_F(scheduled_series, interrupted_after_a_stop_request_is_no_failure) {
    test::gate started;
    const auto series = timed_.pool.schedule_at_fixed_rate(
        [&](std::stop_token stop) {
            started.open();
            while (!stop.stop_requested()) {
                std::this_thread::yield();
            }
            throw spool::interrupted("as asked");
        },
        1s, 1s);
    timed_.clock->advance(1s);
    ASSERT_TRUE(started.opens());
    EXPECT_TRUE(series.cancel());
    timed_.settle();
    EXPECT_EQ(series.failure_count(), 0U);
    EXPECT_EQ(reports_.size(), 0U);
}

TEST_F(scheduled_series, interrupted_without_a_stop_request_counts_as_an_exception) {
    const auto series =
        timed_.pool.schedule_at_fixed_rate([] { throw spool::interrupted("by itself"); }, 1s, 1s);
    timed_.advance(1s);
    EXPECT_EQ(series.failure_count(), 1U);
    EXPECT_EQ(reports_.size(), 1U);
    EXPECT_FALSE(series.is_done());
}

// The cancel comes between the end of a run and the requeue. No user code is destroyed in that
// window, but the pool reads the clock there. So the clock cancels the series.
TEST(scheduled_series_window, cancelled_on_its_way_back_it_does_not_lie_in_the_queue) {
    class cancelling_clock final : public spool::clock_source {
    public:
        [[nodiscard]] spool::due_time now() const noexcept override {
            if (armed.exchange(false)) {
                series.cancel();
            }
            return time.now();
        }
        [[nodiscard]] std::chrono::system_clock::time_point wall_now() const noexcept override {
            return time.wall_now();
        }
        [[nodiscard]] spool::deadline sleep_limit(spool::due_time due) const noexcept override {
            return time.sleep_limit(due);
        }
        void add_listener(spool::clock_listener& l) override { time.add_listener(l); }
        void remove_listener(spool::clock_listener& l) noexcept override { time.remove_listener(l); }
        mutable std::atomic<bool> armed{false};
        spool::scheduled_future<void> series;
        spool::testing::manual_clock time;
    };
    const auto clock = std::make_shared<cancelling_clock>();
    spool::scheduled_thread_pool_executor pool({.core_size = 1, .clock = clock});
    clock->series = pool.schedule_at_fixed_rate([&] { clock->armed = true; }, 1h, 1h);
    clock->time.advance(1h);
    ASSERT_TRUE(clock->series.wait_for(test::long_delay()));
    pool.submit([] {}).get();
    EXPECT_TRUE(clock->series.is_cancelled());
    EXPECT_EQ(pool.queue().size(), 0U) << "a cancelled task leaves the queue at once";
    clock->series = {};
}

}  // namespace
