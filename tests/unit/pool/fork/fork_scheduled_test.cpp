// Scheduled pools in a forked child.
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "unit/pool/behaviour/pool_helpers.hpp"
#include "unit/pool/fork/fork_helpers.hpp"

namespace {

using spool::fork_policy;
using spool::scheduled_thread_pool_executor;
using namespace std::chrono_literals;

TEST(scheduled_fork, first_use_in_the_child_ends_it_unless_asked_otherwise) {
    scheduled_thread_pool_executor timers({.name = "beats", .core_size = 1});
    timers.schedule([] {}, 0s).get();
    const test::child_end end = test::in_child([&] {
        static_cast<void>(timers.schedule([] {}, 0s));
        return 0;
    });
    EXPECT_EQ(end.status, -SIGABRT);
    EXPECT_TRUE(test::contains(end.said, "\"beats\"")) << end.said;
}

TEST(scheduled_fork, the_child_may_destroy_it_and_its_handles) {
    auto timers =
        std::make_unique<scheduled_thread_pool_executor>(spool::scheduled_pool_options{.core_size = 1});
    std::unique_ptr<spool::unconfigurable_scheduler> locked{
        new spool::unconfigurable_scheduler(spool::single_thread_scheduled_executor())};
    static_cast<void>(timers->schedule([] {}, 1h));
    static_cast<void>(locked->schedule([] {}, 1h));
    const test::child_end end = test::in_child([&] {
        timers.reset();
        locked.reset();
        return 0;
    });
    EXPECT_EQ(end.status, 0) << end.said;
}

TEST(scheduled_fork, timers_stay_the_parents_and_the_child_begins_with_none) {
    std::atomic<int> beats{0};
    scheduled_thread_pool_executor timers({.core_size = 1, .on_fork = fork_policy::empty});
    const auto beat = timers.schedule_at_fixed_rate([&] { ++beats; }, 0s, 1ms);
    const auto later = timers.schedule([] { return 1; }, 1h);
    while (beats == 0) {
        std::this_thread::yield();
    }
    const test::child_end end = test::in_child([&] {
        const int before = beats;
        later.wait();
        beat.wait();
        const bool empty = timers.queue().empty() && timers.pool_size() == 0;
        const bool works = timers.schedule([] { return 7; }, 2ms).get() == 7;
        std::atomic<int> own{0};
        const auto own_beat = timers.schedule_at_fixed_rate([&] { ++own; }, 0s, 1ms);
        while (own < 3) {
            std::this_thread::yield();
        }
        own_beat.cancel();
        timers.close();
        return test::first_wrong(later.is_cancelled(), beat.is_cancelled(), empty, works, beats == before,
                                 later.delay() == 0s, !timers.remove(later), !later.cancel());
    });
    EXPECT_EQ(end.status, 0) << end.said;
    EXPECT_FALSE(beat.is_done());
    EXPECT_GT(later.delay(), 50min);
}

TEST(scheduled_fork, its_settings_are_those_it_had_last) {
    scheduled_thread_pool_executor timers({.core_size = 1, .on_fork = fork_policy::empty});
    timers.set_run_delayed_after_shutdown(false);
    timers.set_run_periodic_after_shutdown(true);
    timers.set_remove_on_cancel(false);
    const test::child_end end = test::in_child([&] {
        return test::first_wrong(!timers.run_delayed_after_shutdown(), timers.run_periodic_after_shutdown(),
                                 !timers.remove_on_cancel());
    });
    EXPECT_EQ(end.status, 0) << end.said;
}

TEST(scheduled_fork, a_periodic_task_that_forks_does_not_go_on_in_the_child) {
    std::atomic<int> runs{0};
    std::atomic<pid_t> child{0};
    scheduled_thread_pool_executor timers({.core_size = 1, .on_fork = fork_policy::empty});
    const auto series = timers.schedule_at_fixed_rate(
        [&] {
            if (++runs == 1) {
                child = ::fork();
                if (child == 0) {
                    test::expect_last_thread_to_end();
                }
            }
        },
        0s, 1ms);
    while (runs < 3) {
        std::this_thread::yield();
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == test::last_thread_ended) << status;
    series.cancel();
}

}  // namespace
