// Which task runs first, and which workers wake up for it.
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>

#include "schedule_helpers.hpp"

namespace {

using namespace std::chrono_literals;

std::vector<int> up_to(int n) {
    std::vector<int> numbers(static_cast<std::size_t>(n));
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
}

TEST(scheduled_order, the_same_instant_is_the_order_of_submission) {
    test::timed_pool timed;
    test::record<int> ran;
    const auto instant = timed.clock->now() + 1h;
    for (int i = 0; i < 200; ++i) {
        timed.pool.schedule_at([&ran, i] { ran.add(i); }, instant);
        if (i % 20 == 0) {
            timed.clock->advance(3min);  // so that they are inserted at different distances
        }
    }
    timed.settle();
    EXPECT_EQ(ran.size(), 0U);
    timed.advance(30min);
    EXPECT_EQ(ran.all(), up_to(200));
}

TEST(scheduled_order, an_earlier_timer_overtakes_those_that_were_there_before) {
    test::timed_pool timed;
    test::record<int> ran;
    timed.pool.schedule([&] { ran.add(3); }, 3h);
    timed.pool.schedule([&] { ran.add(2); }, 2s);
    timed.pool.schedule([&] { ran.add(1); }, 1us);
    timed.pool.execute([&] { ran.add(0); });
    timed.advance(4h);
    EXPECT_EQ(ran.all(), up_to(4));
}

TEST(scheduled_order, nothing_starts_a_nanosecond_before_its_time) {
    test::timed_pool timed;
    const auto timer = timed.pool.schedule([] {}, 90min);
    timed.advance(90min - 1ns);
    EXPECT_FALSE(timer.is_done());
    EXPECT_EQ(timer.delay(), 1ns);
    timed.clock->advance(1ns);
    EXPECT_TRUE(timer.wait_for(test::long_delay()));
}

TEST(scheduled_order, execute_submit_and_a_delay_of_zero_or_less_are_one_line) {
    test::busy_workers busy;
    test::timed_pool timed;
    test::record<int> ran;
    const test::open_at_end open{busy.release_gate()};
    busy.hold(timed.pool);
    timed.pool.schedule([&] { ran.add(0); }, 0s);
    timed.pool.execute([&] { ran.add(1); });
    timed.pool.schedule([&] { ran.add(2); }, -1h);
    const auto third = timed.pool.submit([&] { ran.add(3); });
    timed.pool.schedule([&] { ran.add(4); }, std::chrono::hours::min());
    ASSERT_EQ(timed.pool.try_execute([&] { ran.add(5); }), spool::admission_result::accepted);
    ASSERT_EQ(timed.pool.execute_for([&] { ran.add(6); }, 1s), spool::admission_result::accepted);
    busy.release();
    timed.settle();
    EXPECT_EQ(ran.all(), up_to(7));
}

// ---- Leader and followers, told apart by which threads read the clock

class watched_clock final : public spool::clock_source {
public:
    [[nodiscard]] spool::due_time now() const noexcept override {
        asked_.add(std::this_thread::get_id());
        return time.now();
    }
    [[nodiscard]] std::chrono::system_clock::time_point wall_now() const noexcept override {
        return time.wall_now();
    }
    [[nodiscard]] spool::deadline sleep_limit(spool::due_time due) const noexcept override {
        return time.sleep_limit(due);
    }
    void add_listener(spool::clock_listener& listener) override { time.add_listener(listener); }
    void remove_listener(spool::clock_listener& listener) noexcept override {
        time.remove_listener(listener);
    }

    /// The number of workers that have read the clock since `mark`.
    [[nodiscard]] std::size_t lookers_since(std::size_t mark) const {
        const auto all = asked_.all();
        std::set<std::thread::id> who(all.begin() + static_cast<std::ptrdiff_t>(mark), all.end());
        who.erase(std::this_thread::get_id());
        return who.size();
    }
    [[nodiscard]] std::size_t mark() const { return asked_.size(); }
    spool::testing::manual_clock time;

private:
    mutable test::record<std::thread::id> asked_;
};

class scheduled_wakes : public testing::Test {
protected:
    ~scheduled_wakes() override { static_cast<void>(pool_.shutdown_now()); }

    void SetUp() override {
        pool_.prestart_all_core_threads();
        pool_.schedule([] {}, 10h);
        ASSERT_TRUE(test::others_fall_asleep());
    }

    std::shared_ptr<watched_clock> clock_ = std::make_shared<watched_clock>();
    spool::scheduled_thread_pool_executor pool_{{.core_size = 4, .clock = clock_}};
};

TEST_F(scheduled_wakes, a_new_earliest_timer_wakes_exactly_one_worker) {
    for (const auto delay : {9h, 8h, 7h}) {
        const std::size_t before = clock_->mark();
        pool_.schedule([] {}, delay);
        ASSERT_TRUE(test::eventually([&] { return clock_->lookers_since(before) != 0; }));
        ASSERT_TRUE(test::others_fall_asleep());
        EXPECT_EQ(clock_->lookers_since(before), 1U);
    }
}

TEST_F(scheduled_wakes, a_timer_behind_the_earliest_wakes_no_worker) {
    const std::size_t before = clock_->mark();
    for (int i = 0; i < 100; ++i) {
        pool_.schedule([] {}, 11h);
    }
    ASSERT_TRUE(test::others_fall_asleep());
    EXPECT_EQ(clock_->lookers_since(before), 0U);
}

TEST_F(scheduled_wakes, a_cancelled_timer_wakes_no_worker) {
    const auto later = pool_.schedule([] {}, 12h);
    const std::size_t before = clock_->mark();
    later.cancel();
    ASSERT_TRUE(test::others_fall_asleep());
    EXPECT_EQ(clock_->lookers_since(before), 0U);
}

// The leader takes one timer and wakes the next worker: all four work at once.
TEST_F(scheduled_wakes, as_many_workers_wake_as_there_are_timers_due) {
    test::gate all_here;
    const test::open_at_end open{all_here};
    std::atomic<int> here{0};
    std::vector<spool::scheduled_future<void>> meeting;
    for (int i = 0; i < 4; ++i) {
        meeting.push_back(pool_.schedule(
            [&] {
                if (++here == 4) {
                    all_here.open();
                }
                all_here.wait();
            },
            1h));
    }
    clock_->time.advance(1h);
    EXPECT_TRUE(all_here.opens()) << here << " of 4";
    all_here.open();
    for (const auto& one : meeting) {
        EXPECT_TRUE(one.wait_for(test::long_delay()));
    }
}

}  // namespace
