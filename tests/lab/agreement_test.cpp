// The simulator against the real pool, on every scenario that comes with the program and does not compute.
//
// Blocking tasks only sleep, so the CPU hardly matters; but a machine that is busy with something else wakes them late, and the pool is then
// really slower than the scenario says. How late is known for every task, whatever the pool made of it. So a run is repeated if its
// tasks overslept, never because it disagrees: the least disturbed run is judged, once. If none was quiet enough, the test is skipped and says so.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "duration_text.hpp"
#include "pool_run.hpp"
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

// Within a share of the simulated figure, or within so few that a share means nothing: a thread or two, a handful of tasks.
bool near(double real, double simulated, double share, double few) {
    return std::abs(real - simulated) <= std::max(share * simulated, few);
}

// Which tasks are refused is a matter of microseconds, and how long those take decides how many more will be: such a count varies by
// its root, whoever counts.
bool agree(const run_summary& real, const run_summary& simulated) {
    const auto number = [](auto n) { return static_cast<double>(n); };
    const double chance = 3 * std::sqrt(number(simulated.all.refusals));
    return near(number(real.peak_threads), number(simulated.peak_threads), 0.10, 1) &&
           near(number(real.all.refusals), number(simulated.all.refusals), 0.10, 5 + chance) &&
           near(number(real.p99_queue), number(simulated.p99_queue), 0.20, 3);
}

std::string text_of(const run_summary& s) {
    return "peak size " + std::to_string(s.peak_threads) + ", rejections " + std::to_string(s.all.refusals) +
           ", p99 queue " + std::to_string(s.p99_queue);
}

// How much longer than asked for the tasks slept: in all, in proportion, and the worst of a hundred.
struct disturbance {
    double share = 0;
    nanoseconds p99{0};

    [[nodiscard]] bool tolerable() const { return share < 0.03 && p99 < std::chrono::milliseconds{2}; }
    [[nodiscard]] std::string text() const {
        return "tasks overslept by " + std::to_string(share * 100) + " %, p99 " + to_text(p99);
    }
};

disturbance disturbance_of(const run_record& run) {
    std::vector<nanoseconds> overslept;
    double asked = 0;
    double slept = 0;
    for (std::size_t i = 0; i < run.outcomes.size(); ++i) {
        const outcome& o = run.outcomes[i];
        const planned_task& t = (*run.plan)[i];
        if (o.how == fate::completed) {
            const double wanted = seconds(t.service) * service_factor(run.what, t.of_class, o.start);
            asked += wanted;
            slept += seconds(o.end - o.start);
            overslept.push_back(o.end - o.start - from_seconds(wanted));
        }
    }
    return {.share = slept / asked - 1, .p99 = percentiles_of(overslept).p99};
}

class lab_agreement : public ::testing::TestWithParam<std::string> {};

TEST_P(lab_agreement, the_simulator_says_what_the_real_pool_does) {
    const scenario s =
        sped_up(read_scenario(std::string{SPOOL_LAB_SCENARIOS} + "/" + GetParam() + ".json"), speed);
    run_record quietest;
    disturbance least{.share = 1e9};
    for (int i = 0; i < most_runs && !least.tolerable(); ++i) {
        const auto quiet = make_quiet_view();
        run_record run = run_on_pool(s, *quiet);
        if (const disturbance d = disturbance_of(run); d.share < least.share) {
            least = d;
            quietest = std::move(run);
        }
    }
    const run_summary simulated = summarise(simulate(s));
    const run_summary real = summarise(quietest);
    const std::string all =
        "simulated: " + text_of(simulated) + "; real: " + text_of(real) + "; " + least.text();
    RecordProperty("agreement", all);
    if (!least.tolerable()) {
        GTEST_SKIP() << "the machine is too busy to judge " << GetParam() << ": " << all;
    }
    EXPECT_TRUE(agree(real, simulated)) << all;
}

INSTANTIATE_TEST_SUITE_P(shipped, lab_agreement, ::testing::ValuesIn(shipped()), [](const auto& name) {
    std::string word = name.param;
    std::replace(word.begin(), word.end(), '-', '_');
    return word;
});

}  // namespace
