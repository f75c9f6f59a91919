#include "spool/pool/lint.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "spool/pool/run_state.hpp"
#include "spool/queue/array_blocking_queue.hpp"
#include "spool/queue/synchronous_queue.hpp"

namespace {

using namespace std::chrono_literals;
using spool::lint_finding;
using spool::lint_severity;
using spool::pool_options;
using spool::workload_hint;

std::unique_ptr<spool::blocking_queue<spool::task>> places(std::size_t n) {
    return std::make_unique<spool::array_blocking_queue<spool::task>>(n);
}
std::unique_ptr<spool::blocking_queue<spool::task>> hand_off() {
    return std::make_unique<spool::synchronous_queue<spool::task>>();
}

std::vector<std::string> ids(const pool_options& options, const workload_hint& load = {.cpus = 4}) {
    std::vector<std::string> all;
    for (const lint_finding& f : spool::lint(options, load)) {
        all.push_back(f.id);
    }
    return all;
}

using names = std::vector<std::string>;

TEST(pool_lint, every_severity_has_its_word) {
    EXPECT_EQ(to_string(lint_severity::note), "note");
    EXPECT_EQ(to_string(lint_severity::warning), "warning");
    EXPECT_EQ(to_string(lint_severity::error), "error");
}

TEST(pool_lint, says_nothing_about_settings_that_do_what_they_say) {
    EXPECT_EQ(ids({}), names{});
    EXPECT_EQ(ids({.core_size = 4, .maximum_size = 8, .keep_alive = 5s, .queue = places(50)}), names{});
    EXPECT_EQ(ids({.core_size = 0, .maximum_size = 64, .queue = hand_off()}), names{});
    EXPECT_EQ(ids({.core_size = 4, .core_threads_may_time_out = true}), names{});
}

TEST(pool_lint, a_maximum_that_an_unbounded_queue_never_lets_happen) {
    const std::vector<lint_finding> found = spool::lint({.core_size = 4, .maximum_size = 16});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].id, "maximum-never-reached");
    EXPECT_EQ(found[0].severity, lint_severity::warning);
    EXPECT_NE(found[0].what_happens.find("maximum of 16"), std::string::npos) << found[0].what_happens;
    EXPECT_NE(found[0].what_to_do.find("Bound the queue"), std::string::npos) << found[0].what_to_do;
    EXPECT_EQ(ids({.core_size = 4, .maximum_size = 16, .queue = places(9)}), names{});
}

TEST(pool_lint, core_zero_runs_one_task_after_the_other_until_the_queue_is_full) {
    EXPECT_EQ(ids({.core_size = 0, .maximum_size = 8, .queue = places(100)}), names{"one-worker-only"});
    EXPECT_EQ(ids({.core_size = 0, .maximum_size = 8}), (names{"maximum-never-reached", "one-worker-only"}));
    EXPECT_EQ(ids({.core_size = 0, .maximum_size = 1, .queue = places(100)}), names{});
}

TEST(pool_lint, core_zero_with_a_hand_off_queue_and_a_small_maximum) {
    EXPECT_EQ(ids({.core_size = 0, .maximum_size = 4, .queue = hand_off()}), names{"hand-off-small-maximum"});
    // Keeps 20 workers busy.
    const workload_hint load{.arrivals_per_second = 1000, .mean_service = 20ms, .cpus = 4};
    EXPECT_EQ(ids({.core_size = 0, .maximum_size = 30, .queue = hand_off()}, load),
              names{"hand-off-small-maximum"});
    EXPECT_EQ(ids({.core_size = 0, .maximum_size = 40, .queue = hand_off()}, load), names{});
}

TEST(pool_lint, a_keep_alive_that_never_applies) {
    EXPECT_EQ(ids({.core_size = 4, .keep_alive = 5s}), names{"keep-alive-without-effect"});
    EXPECT_EQ(ids({.core_size = 4, .keep_alive = 5s, .queue = places(9)}),
              names{"keep-alive-without-effect"});
    EXPECT_EQ(ids({.core_size = 4, .keep_alive = 5s, .core_threads_may_time_out = true}), names{});
    // The default value: the user did not set it.
    EXPECT_EQ(ids({.core_size = 4, .keep_alive = 60s}), names{});
}

TEST(pool_lint, a_keep_alive_that_starts_a_thread_for_every_task) {
    EXPECT_EQ(ids({.core_size = 2, .maximum_size = 8, .keep_alive = 0s, .queue = places(9)}),
              names{"keep-alive-too-short"});
    EXPECT_EQ(ids({.core_size = 2, .maximum_size = 8, .keep_alive = 10ms, .queue = places(9)}), names{});
}

TEST(pool_lint, more_work_than_the_workers_can_do) {
    // Keeps 10 workers busy.
    const workload_hint load{.arrivals_per_second = 100, .mean_service = 100ms, .cpus = 4};
    EXPECT_EQ(ids({.core_size = 8}, load), names{"overload"});
    EXPECT_EQ(ids({.core_size = 11}, load), names{"overload"});  // hardly any room for a burst
    EXPECT_EQ(ids({.core_size = 12}, load), names{});
    const lint_finding grows = spool::lint({.core_size = 8}, load).at(0);
    EXPECT_NE(grows.what_happens.find("the queue grows"), std::string::npos) << grows.what_happens;
    const lint_finding refuses = spool::lint({.core_size = 8, .queue = places(9)}, load).at(0);
    EXPECT_NE(refuses.what_happens.find("refused"), std::string::npos) << refuses.what_happens;
}

TEST(pool_lint, a_core_below_the_mean_load_makes_every_task_wait_behind_a_full_queue) {
    // Keeps 14.4 workers busy.
    const workload_hint load{.arrivals_per_second = 300, .mean_service = 48ms, .cpus = 4};
    const std::vector<lint_finding> found =
        spool::lint({.core_size = 8, .maximum_size = 32, .queue = places(500)}, load);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].id, "core-below-load");
    EXPECT_EQ(found[0].severity, lint_severity::warning);
    EXPECT_NE(found[0].what_happens.find("a task waits about 1.7 s"), std::string::npos)
        << found[0].what_happens;
    EXPECT_NE(found[0].what_to_do.find("core_size to 21"), std::string::npos) << found[0].what_to_do;
    EXPECT_EQ(ids({.core_size = 15, .maximum_size = 32, .queue = places(500)}, load), names{});
}

TEST(pool_lint, a_core_below_the_mean_load_is_harmless_behind_a_queue_that_fills_at_once) {
    // Keeps 14.4 workers busy.
    const workload_hint load{.arrivals_per_second = 300, .mean_service = 48ms, .cpus = 4};
    EXPECT_EQ(ids({.core_size = 8, .maximum_size = 32, .queue = places(8)}, load), names{});
    EXPECT_EQ(ids({.core_size = 8, .maximum_size = 32, .queue = places(9)}, load), names{"core-below-load"});
    EXPECT_EQ(ids({.core_size = 8, .maximum_size = 64, .queue = hand_off()}, load), names{});
}

TEST(pool_lint, a_larger_core_is_no_advice_where_the_whole_pool_or_the_cpus_are_too_few) {
    // Keeps 14.4 workers busy.
    const workload_hint load{.arrivals_per_second = 300, .mean_service = 48ms, .cpus = 4};
    EXPECT_EQ(ids({.core_size = 8, .maximum_size = 12, .queue = places(500)}, load), names{"overload"});
    // Keeps 2.9 workers busy.
    const workload_hint computing{
        .arrivals_per_second = 60, .mean_service = 48ms, .cpu_bound = true, .cpus = 4};
    EXPECT_EQ(ids({.core_size = 2, .maximum_size = 4, .queue = places(500)}, computing),
              names{"core-below-load"});
    EXPECT_EQ(ids({.core_size = 4, .maximum_size = 4, .queue = places(500)}, computing), names{});
}

TEST(pool_lint, figures_too_large_for_a_duration_are_said_and_not_wrapped_around) {
    const workload_hint load{.mean_service = 10'000h, .deadline = 1s, .cpus = 4};
    const std::vector<lint_finding> found = spool::lint({.core_size = 1, .queue = places(1'000'000)}, load);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_NE(found[0].what_happens.find("takes 36000000000000 s to drain"), std::string::npos)
        << found[0].what_happens;
}

TEST(pool_lint, computing_tasks_get_no_more_than_the_cpus_can_give) {
    // Needs 10 CPUs.
    const workload_hint load{.arrivals_per_second = 100, .mean_service = 100ms, .cpu_bound = true, .cpus = 4};
    EXPECT_EQ(ids({.core_size = 20}, load), (names{"overload", "more-threads-than-cpus"}));
}

TEST(pool_lint, a_queue_that_drains_more_slowly_than_the_deadline) {
    const workload_hint load{.mean_service = 10ms, .deadline = 100ms, .cpus = 4};
    // 41 * 10 ms / 4 > 100 ms
    const std::vector<lint_finding> found = spool::lint({.core_size = 4, .queue = places(41)}, load);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].id, "queue-outlasts-deadline");
    EXPECT_NE(found[0].what_to_do.find("about 40 "), std::string::npos) << found[0].what_to_do;
    EXPECT_EQ(ids({.core_size = 4, .queue = places(40)}, load), names{});
}

TEST(pool_lint, more_threads_than_cpus_for_work_that_computes) {
    EXPECT_EQ(ids({.core_size = 5}, {.cpu_bound = true, .cpus = 4}), names{"more-threads-than-cpus"});
    EXPECT_EQ(ids({.core_size = 5}, {.cpu_bound = false, .cpus = 4}), names{});
    EXPECT_EQ(ids({.core_size = 4}, {.cpu_bound = true, .cpus = 4}), names{});
}

TEST(pool_lint, discarding_the_oldest_of_a_queue_that_holds_nothing) {
    EXPECT_EQ(ids({.core_size = 1,
                   .maximum_size = 64,
                   .queue = hand_off(),
                   .rejection = spool::discard_oldest_policy{}}),
              names{"discard-oldest-without-queue"});
}

TEST(pool_lint, a_rejection_policy_that_is_never_asked) {
    EXPECT_EQ(ids({.core_size = 4, .rejection = spool::caller_runs_policy{}}),
              names{"rejection-without-effect"});
    EXPECT_EQ(ids({.core_size = 4, .queue = places(9), .rejection = spool::caller_runs_policy{}}), names{});
}

TEST(pool_lint, a_thread_for_every_task_that_waits) {
    EXPECT_EQ(ids({.core_size = 0, .maximum_size = spool::largest_pool, .queue = hand_off()}),
              names{"threads-without-limit"});
}

TEST(pool_lint, what_the_constructor_refuses_is_an_error_and_stands_alone) {
    EXPECT_EQ(ids({.core_size = 4, .maximum_size = 2}), names{"maximum-below-core"});
    EXPECT_EQ(ids({.core_size = 0, .maximum_size = 0}), names{"maximum-zero"});
    EXPECT_EQ(ids({.core_size = static_cast<std::size_t>(-1)}), names{"size-out-of-range"});
    EXPECT_EQ(ids({.keep_alive = -1s}), names{"negative-keep-alive"});
    EXPECT_EQ(ids({.keep_alive = 0s, .core_threads_may_time_out = true}),
              names{"zero-keep-alive-with-core-time-out"});
    EXPECT_EQ(ids({.queue = nullptr,
                   .thread_factory = spool::thread_factory{},
                   .rejection = spool::rejection_policy{}}),
              (names{"no-queue", "no-thread-factory", "no-rejection-policy"}));
    EXPECT_EQ(spool::lint({.maximum_size = 0}).at(0).severity, lint_severity::error);
}

}  // namespace
