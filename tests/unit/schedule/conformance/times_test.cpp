// On the real clock: nothing runs before its time, and a series keeps its pace. How late a run may
// be depends on the machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "unit/schedule/conformance/conformance_scheduler.hpp"

namespace conformance {
namespace {

using namespace std::chrono_literals;
using spool::scheduled_future;
using spool::scheduled_thread_pool_executor;
using std::chrono::steady_clock;

// The start times of the first few runs.
class run_times {
public:
    explicit run_times(std::size_t wanted) : wanted_(wanted) {}

    void note() {  // runs of one task never overlap
        if (times_.size() < wanted_) {
            times_.push_back(steady_clock::now());
            if (times_.size() == wanted_) {
                complete_.open();
            }
        }
    }
    [[nodiscard]] bool are_complete_within(std::chrono::nanoseconds d) const {
        return complete_.opens_within(d);
    }
    /// Precondition: the runs are complete.
    [[nodiscard]] const std::vector<steady_clock::time_point>& get() const { return times_; }

private:
    const std::size_t wanted_;
    std::vector<steady_clock::time_point> times_;
    test::gate complete_;
};

TEST(scheduled_thread_pool_executor, STPE_002_a_function_runs_no_sooner_than_its_delay) {
    const auto delay = test::short_delay();
    scheduled_thread_pool_executor pool{scheduler_of(1)};
    const ended_at_last end{pool};
    const auto start = steady_clock::now();
    const scheduled_future<steady_clock::time_point> ran_at =
        pool.schedule([] { return steady_clock::now(); }, delay);
    EXPECT_GE(ran_at.get_for(test::long_delay()) - start, delay);
    EXPECT_EQ(ran_at.state(), spool::future_state::succeeded);
}

TEST(scheduled_thread_pool_executor, STPE_003_an_action_runs_no_sooner_than_its_delay) {
    const auto delay = test::short_delay();
    steady_clock::time_point ran_at{};
    scheduled_thread_pool_executor pool{scheduler_of(1)};
    const ended_at_last end{pool};
    const auto start = steady_clock::now();
    const scheduled_future<void> result = pool.schedule([&] { ran_at = steady_clock::now(); }, delay);
    ASSERT_NO_THROW(result.get_for(test::long_delay()));
    EXPECT_GE(ran_at - start, delay);
    EXPECT_EQ(result.state(), spool::future_state::succeeded);
}

TEST(scheduled_thread_pool_executor, STPE_004_a_fixed_rate_begins_no_sooner_than_its_initial_delay) {
    const auto delay = test::short_delay();
    run_times runs{1};
    scheduled_thread_pool_executor pool{scheduler_of(1)};
    const ended_at_last end{pool};
    const auto start = steady_clock::now();
    const auto beat = pool.schedule_at_fixed_rate([&] { runs.note(); }, delay, test::long_delay());
    ASSERT_TRUE(runs.are_complete_within(test::long_delay()));
    EXPECT_GE(runs.get()[0] - start, delay);
    EXPECT_TRUE(beat.cancel());
}

TEST(scheduled_thread_pool_executor, STPE_005_a_fixed_delay_begins_no_sooner_than_its_initial_delay) {
    const auto delay = test::short_delay();
    run_times runs{1};
    scheduled_thread_pool_executor pool{scheduler_of(1)};
    const ended_at_last end{pool};
    const auto start = steady_clock::now();
    const auto beat = pool.schedule_with_fixed_delay([&] { runs.note(); }, delay, test::long_delay());
    ASSERT_TRUE(runs.are_complete_within(test::long_delay()));
    EXPECT_GE(runs.get()[0] - start, delay);
    EXPECT_TRUE(beat.cancel());
}

// Tries longer and longer periods: `keeps_pace(period)` may return false while the machine is too
// busy for a short one.
template <class KeepsPace>
bool for_some_period(KeepsPace keeps_pace) {
    for (auto period = 1ms; period <= test::long_delay() && !::testing::Test::HasFailure(); period *= 3) {
        if (keeps_pace(period)) {
            return true;
        }
    }
    return false;
}

TEST(scheduled_thread_pool_executor,
     STPE_006_eight_runs_at_a_fixed_rate_take_seven_periods_and_no_more_than_eight) {
    constexpr int cycles = 8;
    scheduled_thread_pool_executor pool{scheduler_of(1)};
    const ended_at_last end{pool};
    EXPECT_TRUE(for_some_period([&](std::chrono::milliseconds period) {
        // Shared, because the cancelled task may be in its ninth run.
        const auto runs = std::make_shared<run_times>(cycles);
        const auto start = steady_clock::now();
        const auto beat = pool.schedule_at_fixed_rate([runs] { runs->note(); }, 0ms, period);
        const bool came = runs->are_complete_within(cycles * period + test::long_delay());
        beat.cancel();
        EXPECT_TRUE(came);
        if (!came) {
            return false;
        }
        for (int i = 0; i < cycles; ++i) {
            EXPECT_GE(runs->get()[static_cast<std::size_t>(i)] - start, i * period) << "run " << i;
        }
        return runs->get().back() - start <= cycles * period;
    }));
}

TEST(scheduled_thread_pool_executor, STPE_007_runs_with_a_fixed_delay_are_one_delay_apart_and_less_than_two) {
    constexpr int cycles = 8;
    scheduled_thread_pool_executor pool{scheduler_of(1)};
    const ended_at_last end{pool};
    EXPECT_TRUE(for_some_period([&](std::chrono::milliseconds delay) {
        const auto runs = std::make_shared<run_times>(cycles);
        const auto beat = pool.schedule_with_fixed_delay([runs] { runs->note(); }, 0ms, delay);
        const bool came = runs->are_complete_within(cycles * delay + test::long_delay());
        beat.cancel();
        EXPECT_TRUE(came);
        if (!came) {
            return false;
        }
        auto longest = 0ns;
        for (std::size_t i = 1; i < cycles; ++i) {
            const std::chrono::nanoseconds apart = runs->get()[i] - runs->get()[i - 1];
            EXPECT_GE(apart, delay) << "run " << i;
            longest = std::max(longest, apart);
        }
        return longest < 2 * delay;
    }));
}

}  // namespace
}  // namespace conformance
