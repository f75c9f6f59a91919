// fork_policy::abort, the default.
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "unit/pool/behaviour/pool_helpers.hpp"
#include "unit/pool/fork/fork_helpers.hpp"

namespace {

using spool::thread_pool_executor;
using namespace std::chrono_literals;

TEST(pool_fork_abort, first_use_in_the_child_ends_it_and_says_which_pool_and_what_to_do) {
    thread_pool_executor pool({.name = "decode", .core_size = 1});
    pool.submit([] {}).get();
    const std::string parent = std::to_string(::getpid());
    const test::child_end end = test::in_child([&] {
        pool.execute([] {});
        return 0;
    });
    EXPECT_EQ(end.status, -SIGABRT);
    EXPECT_TRUE(test::contains(end.said, "\"decode\" was made in process " + parent)) << end.said;
    EXPECT_TRUE(test::contains(end.said, "fork_policy::empty")) << end.said;
    EXPECT_EQ(pool.submit([] { return 7; }).get(), 7);  // the parent's pool still works
}

TEST(pool_fork_abort, every_kind_of_use_is_a_use) {
    thread_pool_executor pool({.core_size = 1});
    const std::vector<std::pair<std::string, std::function<void()>>> uses{
        {"submit", [&] { static_cast<void>(pool.submit([] {})); }},
        {"try_execute", [&] { static_cast<void>(pool.try_execute([] {})); }},
        {"execute_for", [&] { static_cast<void>(pool.execute_for([] {}, 1ms)); }},
        {"shutdown", [&] { pool.shutdown(); }},
        {"shutdown_now", [&] { static_cast<void>(pool.shutdown_now()); }},
        {"await_termination", [&] { static_cast<void>(pool.await_termination(1ms)); }},
        {"state", [&] { static_cast<void>(pool.state()); }},
        {"set_core_size", [&] { pool.set_core_size(1); }},
        {"prestart", [&] { static_cast<void>(pool.prestart_core_thread()); }},
        {"queue", [&] { static_cast<void>(pool.queue()); }},
        {"purge", [&] { static_cast<void>(pool.purge()); }},
        {"describe", [&] { static_cast<void>(pool.describe()); }},
        {"task_group", [&] { const spool::task_group group{pool}; }}};
    for (const auto& [name, use] : uses) {
        const test::child_end end = test::in_child([&run = use] {
            run();
            return 0;
        });
        EXPECT_EQ(end.status, -SIGABRT) << name;
    }
}

TEST(pool_fork_abort, a_child_that_leaves_the_pool_alone_lives) {
    test::busy_workers busy;
    thread_pool_executor pool({.name = "decode", .core_size = 1});
    const test::open_at_end release{busy.release_gate()};
    busy.hold(pool);
    const test::child_end end = test::in_child([&] { return pool.name() == "decode" ? 0 : 1; });
    EXPECT_EQ(end.status, 0) << end.said;
}

TEST(pool_fork_abort, the_child_may_destroy_or_close_a_busy_pool_and_waits_for_nobody) {
    test::busy_workers busy;
    auto pool = std::make_unique<thread_pool_executor>(spool::pool_options{.core_size = 1});
    std::unique_ptr<spool::unconfigurable_service> locked{
        new spool::unconfigurable_service(spool::single_thread_executor())};
    const test::open_at_end release{busy.release_gate()};
    busy.hold(*pool);
    pool->execute([] {});
    locked->execute([&busy] { busy.release_gate().wait(); });
    const test::child_end end = test::in_child([&] {
        pool->close();
        pool.reset();
        locked.reset();
        return 0;
    });
    EXPECT_EQ(end.status, 0) << end.said;
}

TEST(pool_fork_abort, the_child_may_make_a_pool_of_its_own) {
    thread_pool_executor pool({.core_size = 2});
    pool.submit([] {}).get();
    const test::child_end end = test::in_child([] {
        thread_pool_executor own({.core_size = 2});
        return own.submit([] { return 7; }).get() == 7 ? 0 : 1;
    });
    EXPECT_EQ(end.status, 0) << end.said;
}

TEST(pool_fork_abort, a_task_that_forks_and_returns_in_the_child_ends_it_with_the_message) {
    test::child_end end;
    {
        thread_pool_executor pool({.name = "decode", .core_size = 1});
        int ends[2];
        ASSERT_EQ(::pipe(ends), 0);
        pid_t child = 0;
        pool.submit([&] {
                child = ::fork();
                if (child == 0) {
                    ::dup2(ends[1], STDERR_FILENO);
                    ::close(ends[0]);
                    ::close(ends[1]);
                }
            })
            .get();
        ::close(ends[1]);
        end = test::end_of(child, ends[0]);
    }
    EXPECT_EQ(end.status, -SIGABRT);
    EXPECT_TRUE(test::contains(end.said, "\"decode\"")) << end.said;
}

}  // namespace
