// The simulator against the real pool, on every shipped scenario that is not CPU-bound.
//
// Blocking tasks only sleep, so the CPU hardly matters. But a busy machine wakes the tasks late,
// and the pool is then really slower than the scenario says. The test knows for every completed
// task how much it overslept. It repeats a run if the tasks overslept, never because the figures
// disagree. It judges the least disturbed run, once. If no run was quiet enough, the test is
// skipped with a message.
//
// Even then microseconds decide which task a full pool refuses. That decides what the pool runs
// next, and how many more tasks it refuses. If refused tasks come again, one simulation says little
// about another. So the test judges the run by many simulations of the same plan. In each of them
// tasks arrive a little later and take a little longer, by as much as some task of the real run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "duration_text.hpp"
#include "plan.hpp"
#include "pool_run.hpp"
#include "random_stream.hpp"
#include "scenario.hpp"
#include "simulator.hpp"
#include "statistics.hpp"
#include "view.hpp"

namespace {

using namespace spool::lab;

constexpr double speed = 4;  // a scenario of 10 s in 2.5 s
constexpr int most_runs = 5;

std::vector<std::string> shipped() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator{SPOOL_LAB_SCENARIOS}) {
        if (entry.path().extension() == ".json" && !read_scenario(entry.path().string()).cpu_bound()) {
            names.push_back(entry.path().stem().string());
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

// Mean and deviation of one figure over many simulations.
struct spread {
    explicit spread(const std::vector<double>& values) {
        const auto count = static_cast<double>(values.size());
        mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
        double squares = 0;
        for (const double v : values) {
            squares += (v - mean) * (v - mean);
        }
        deviation = std::sqrt(squares / count);
    }

    // True if `real` is within a share of the mean, or within a number so small that a share means
    // nothing (`few`: a thread or two, a handful of tasks), or within the variation of the
    // simulations.
    [[nodiscard]] bool near(double real, double share, double few) const {
        return std::abs(real - mean) <= std::max({share * mean, few, 5 * deviation});
    }
    [[nodiscard]] std::string text() const {
        return fmt::format("{:.1f} (deviation {:.1f})", mean, deviation);
    }

    double mean;
    double deviation;
};

// The figures of a run that the test compares.
struct figures {
    explicit figures(const run_record& run) {
        const run_summary s = summarise(run);
        peak_size = static_cast<double>(s.peak_threads);
        refusals = static_cast<double>(s.all.refusals);
        p99_queue = static_cast<double>(s.p99_queue);
    }

    double peak_size;
    double refusals;
    double p99_queue;
};

class simulations {
public:
    simulations(const run_record& real, const std::vector<nanoseconds>& overslept) {
        for (std::uint64_t i = 0; i < how_many; ++i) {
            all_.emplace_back(simulate(real.what, disturbed(real, overslept, i)));
        }
    }

    [[nodiscard]] bool agree(const figures& real) const {
        return of(&figures::peak_size).near(real.peak_size, 0.10, 1) &&
               of(&figures::refusals).near(real.refusals, 0.10, 5) &&
               of(&figures::p99_queue).near(real.p99_queue, 0.20, 3);
    }
    [[nodiscard]] std::string beside(const figures& real) const {
        return fmt::format("simulated: peak size {}, rejections {}, p99 queue {}; real: {}, {}, {}",
                           of(&figures::peak_size).text(), of(&figures::refusals).text(),
                           of(&figures::p99_queue).text(), real.peak_size, real.refusals, real.p99_queue);
    }

private:
    static constexpr std::uint64_t how_many = 50;

    static std::shared_ptr<const std::vector<planned_task>> disturbed(
        const run_record& real, const std::vector<nanoseconds>& overslept, std::uint64_t stream) {
        random_stream draw{real.what.seed, stream};
        const auto one_of = [&draw](const std::vector<nanoseconds>& values) {
            return values[static_cast<std::size_t>(draw.uniform() * static_cast<double>(values.size()))];
        };
        auto plan = std::make_shared<std::vector<planned_task>>(*real.plan);
        for (planned_task& t : *plan) {
            const double factor = service_factor(real.what, t.of_class, t.arrival);
            t.service += from_seconds(seconds(one_of(overslept)) / factor);
            t.arrival += one_of(real.lateness);
        }
        std::ranges::stable_sort(*plan, {}, &planned_task::arrival);
        return plan;
    }

    [[nodiscard]] spread of(double figures::*figure) const {
        std::vector<double> values;
        for (const figures& one : all_) {
            values.push_back(one.*figure);
        }
        return spread{values};
    }

    std::vector<figures> all_;
};

// How much longer than planned the tasks slept: as a share of the total, and for each completed
// task.
struct disturbance {
    double share = 1e9;
    std::vector<nanoseconds> overslept;  // sorted

    [[nodiscard]] nanoseconds p99() const { return overslept[overslept.size() * 99 / 100]; }
    [[nodiscard]] bool tolerable() const { return share < 0.03 && p99() < std::chrono::milliseconds{2}; }
    [[nodiscard]] std::string text() const {
        return fmt::format("tasks overslept by {:.2f} %, p99 {}", share * 100, to_text(p99()));
    }
};

disturbance disturbance_of(const run_record& run) {
    disturbance found;
    double asked = 0;
    double slept = 0;
    for (std::size_t i = 0; i < run.outcomes.size(); ++i) {
        const outcome& o = run.outcomes[i];
        const planned_task& t = (*run.plan)[i];
        if (o.how == fate::completed) {
            const double wanted = seconds(t.service) * service_factor(run.what, t.of_class, o.start);
            asked += wanted;
            slept += seconds(o.end - o.start);
            found.overslept.push_back(std::max(nanoseconds{0}, o.end - o.start - from_seconds(wanted)));
        }
    }
    found.share = slept / asked - 1;
    std::sort(found.overslept.begin(), found.overslept.end());
    return found;
}

class lab_agreement : public ::testing::TestWithParam<std::string> {};

TEST_P(lab_agreement, the_simulator_agrees_with_the_real_pool) {
    const scenario s =
        sped_up(read_scenario(std::string{SPOOL_LAB_SCENARIOS} + "/" + GetParam() + ".json"), speed);
    run_record quietest;
    disturbance least;
    for (int i = 0; i < most_runs && (i == 0 || !least.tolerable()); ++i) {
        const auto quiet = make_quiet_view();
        run_record run = run_on_pool(s, *quiet);
        if (disturbance d = disturbance_of(run); d.share < least.share) {
            least = std::move(d);
            quietest = std::move(run);
        }
    }
    const figures real{quietest};
    const simulations simulated{quietest, least.overslept};
    const std::string all = simulated.beside(real) + "; " + least.text();
    RecordProperty("agreement", all);
    if (!least.tolerable()) {
        GTEST_SKIP() << "the machine is too busy to judge " << GetParam() << ": " << all;
    }
    EXPECT_TRUE(simulated.agree(real)) << all;
}

INSTANTIATE_TEST_SUITE_P(shipped, lab_agreement, ::testing::ValuesIn(shipped()), [](const auto& name) {
    std::string word = name.param;
    std::replace(word.begin(), word.end(), '-', '_');
    return word;
});

}  // namespace
