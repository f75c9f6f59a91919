// sample_filter and sample_rate alone: which tasks are timed, and how the period follows the rate.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <spool/spool.hpp>

#include "pool/measure/sample_filter.hpp"
#include "pool/measure/sample_rate.hpp"

namespace {

using namespace std::chrono_literals;
using spool::sample_filter;
using spool::sample_rate;

// Runs a load of `per_second` tasks through the sampler, in virtual time, on `threads` workers.
class virtual_load {
public:
    explicit virtual_load(std::uint32_t limit, std::size_t threads = 1) : limit_(limit), threads_(threads) {
        filter.set(1);
    }
    // `use` gets each task that is timed, and its weight.
    template <class F>
    void run(double per_second, std::chrono::nanoseconds length, F use) {
        const double gap = 1e9 / per_second;
        const auto count = static_cast<std::uint64_t>(static_cast<double>(length.count()) / gap);
        for (std::uint64_t i = 0; i < count; ++i) {
            now_ += gap;
            if (filter.wants(++id_)) {
                const std::uint32_t period = filter.period();
                use(i, period);
                const sample_rate::clock::time_point at{
                    std::chrono::nanoseconds{static_cast<std::int64_t>(now_)}};
                filter.set(rate_.count(at, period, limit_, threads_));
            }
        }
    }
    sample_filter filter{false};

private:
    std::uint32_t limit_;
    std::size_t threads_;
    sample_rate rate_;
    double now_ = 1e9;
    std::uint64_t id_ = 4096;
};

const auto nothing = [](std::uint64_t, std::uint32_t) {};

}  // namespace

TEST(pool_sampling, an_idle_filter_wants_next_to_nothing_and_says_that_it_is_off) {
    const sample_filter off{false};
    EXPECT_FALSE(off.is_on());
    EXPECT_EQ(off.period(), 0U);
    std::uint64_t wanted = 0;
    for (std::uint64_t id = 1; id <= 1'000'000; ++id) {
        wanted += off.wants(id) ? 1 : 0;
    }
    EXPECT_LE(wanted, 1U);
}

TEST(pool_sampling, a_filter_of_a_pool_with_task_times_wants_every_task) {
    sample_filter all{true};
    EXPECT_TRUE(all.wants(17));
    all.set(64);
    EXPECT_TRUE(all.wants(17));
    EXPECT_EQ(all.period(), 1U);
    all.set(0);
    EXPECT_TRUE(all.wants(17));
    EXPECT_FALSE(all.is_on());
}

// A load that submits its kinds in turn must not be seen through the same gap each time.
TEST(pool_sampling, every_residue_of_the_ids_gets_its_share) {
    sample_filter filter{false};
    filter.set(64);
    for (const std::uint64_t modulus : {2U, 3U, 10U, 64U}) {
        std::vector<double> samples(modulus, 0);
        const std::uint64_t ids = 640'000 * modulus;
        double total = 0;
        for (std::uint64_t id = 1; id <= ids; ++id) {
            if (filter.wants(id)) {
                ++samples[id % modulus];
                ++total;
            }
        }
        EXPECT_NEAR(total * 64 / static_cast<double>(ids), 1.0, 0.01);
        for (const double n : samples) {
            EXPECT_NEAR(n * static_cast<double>(modulus) / total, 1.0, 0.03) << "modulus " << modulus;
        }
    }
}

TEST(pool_sampling, every_task_is_timed_up_to_the_limit) {
    virtual_load load{100'000};
    std::uint64_t timed = 0;
    load.run(99'000, 10s, [&](std::uint64_t, std::uint32_t weight) {
        ++timed;
        EXPECT_EQ(weight, 1U);
    });
    EXPECT_EQ(timed, 990'000U);
}

TEST(pool_sampling, the_limit_holds_for_each_thread) {
    virtual_load load{100'000, 4};
    load.run(390'000, 3s, nothing);
    EXPECT_EQ(load.filter.period(), 1U);
    load.run(900'000, 3s, nothing);
    EXPECT_EQ(load.filter.period(), 4U);
}

TEST(pool_sampling, the_first_second_of_a_burst_times_no_more_than_the_limit_and_a_quarter) {
    virtual_load load{100'000};
    std::uint64_t timed = 0;
    load.run(20e6, 1s, [&](std::uint64_t, std::uint32_t) { ++timed; });
    EXPECT_LE(timed, 125'000U);
    EXPECT_GE(load.filter.period(), 256U);
}

TEST(pool_sampling, the_period_falls_again_with_the_rate) {
    virtual_load load{100'000};
    load.run(20e6, 3s, nothing);
    EXPECT_EQ(load.filter.period(), 256U);
    load.run(1'000, 2s, nothing);
    EXPECT_EQ(load.filter.period(), 1U);
}

// A recorded sequence: two kinds in turn, one fast and one slow, with a burst every 1,000 tasks.
TEST(pool_sampling, percentiles_of_twenty_million_tasks_a_second_are_right_to_ten_percent) {
    std::mt19937_64 random{20};
    std::lognormal_distribution<double> fast{std::log(2'000.0), 0.8};
    std::lognormal_distribution<double> slow{std::log(40'000.0), 1.1};
    std::vector<std::chrono::nanoseconds> waits(1 << 20);
    for (std::size_t i = 0; i < waits.size(); ++i) {
        const double burst = i % 1000 < 20 ? 10 : 1;
        waits[i] = std::chrono::nanoseconds{
            static_cast<std::int64_t>((i % 2 == 0 ? fast(random) : slow(random)) * burst)};
    }
    spool::duration_histogram truth;
    spool::duration_histogram sampled;
    virtual_load load{100'000};
    for (int second = 0; second < 3; ++second) {
        load.run(20e6, 1s, [&](std::uint64_t i, std::uint32_t weight) {
            sampled.add(waits[i % waits.size()], weight);
        });
    }
    for (int round = 0; round < 3; ++round) {
        for (std::uint64_t i = 0; i < 20'000'000; ++i) {
            truth.add(waits[i % waits.size()]);
        }
    }
    const auto near = [](std::chrono::nanoseconds a, std::chrono::nanoseconds b) {
        return std::abs(static_cast<double>(a.count()) / static_cast<double>(b.count()) - 1) < 0.1;
    };
    EXPECT_TRUE(near(sampled.quantile(0.5), truth.quantile(0.5)))
        << sampled.quantile(0.5).count() << " against " << truth.quantile(0.5).count();
    EXPECT_TRUE(near(sampled.quantile(0.99), truth.quantile(0.99)))
        << sampled.quantile(0.99).count() << " against " << truth.quantile(0.99).count();
    // The weights make the sample stand for all tasks.
    EXPECT_NEAR(static_cast<double>(sampled.count()) / static_cast<double>(truth.count()), 1.0, 0.02);
}

TEST(pool_histogram, every_value_lies_in_its_bucket_and_the_buckets_leave_no_gap) {
    using spool::duration_histogram;
    for (std::size_t i = 0; i + 1 < duration_histogram::buckets; ++i) {
        const auto low = duration_histogram::lower_end(i);
        EXPECT_EQ(duration_histogram::bucket_of(low), i);
        EXPECT_EQ(duration_histogram::bucket_of(duration_histogram::upper_end(i) - 1ns), i);
    }
    EXPECT_EQ(duration_histogram::bucket_of(-5ns), 0U);
    EXPECT_EQ(duration_histogram::bucket_of(std::chrono::nanoseconds::max()),
              duration_histogram::buckets - 1);
}

TEST(pool_histogram, quantiles_are_within_six_percent_and_a_difference_is_what_came_between) {
    spool::duration_histogram all;
    for (int i = 1; i <= 1000; ++i) {
        all.add(std::chrono::microseconds{i});
    }
    EXPECT_NEAR(static_cast<double>(all.quantile(0.5).count()), 500e3, 30e3);
    EXPECT_NEAR(static_cast<double>(all.quantile(0.99).count()), 990e3, 60e3);
    EXPECT_NEAR(static_cast<double>(all.quantile(1).count()), 1000e3, 60e3);
    EXPECT_EQ(all.mean(), 500'500ns);
    const spool::duration_histogram before = all;
    all.add(1s, 10);
    all -= before;
    EXPECT_EQ(all.count(), 10U);
    EXPECT_EQ(all.sum(), 10s);
    EXPECT_EQ(spool::duration_histogram{}.quantile(0.5), 0ns);
}
