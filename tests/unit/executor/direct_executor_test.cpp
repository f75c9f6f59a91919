#include "spool/executor/direct_executor.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "spool/future/future_task.hpp"
#include "spool/sync/this_task.hpp"
#include "support/throws.hpp"

namespace {

TEST(direct_executor, execute_throws_the_exception_of_the_task) {
    spool::direct_executor here;
    const auto run = [&] { here.execute([] { throw std::domain_error{"disk full"}; }); };
    EXPECT_EQ(test::what_of<std::domain_error>(run), "disk full");
}

TEST(direct_executor, opens_a_task_scope_that_ends_with_the_task) {
    spool::direct_executor here;
    ASSERT_EQ(spool::task_scope::current(), nullptr);
    const spool::task_scope* inside = nullptr;
    here.execute([&] { inside = spool::task_scope::current(); });
    EXPECT_NE(inside, nullptr);
    EXPECT_EQ(spool::task_scope::current(), nullptr);
    EXPECT_THROW(here.execute([] { throw 1; }), int);
    EXPECT_EQ(spool::task_scope::current(), nullptr);
}

TEST(direct_executor, cancelling_the_inner_of_two_nested_tasks_does_not_stop_the_outer) {
    spool::direct_executor here;
    bool inner_stopped = false;
    bool outer_stopped = true;
    here.execute([&] {
        spool::future<void> self;
        auto [handle, work] = spool::future_task<void>{[&] {
                                  self.cancel();
                                  inner_stopped = spool::this_task::stop_requested();
                              }}.split();
        self = handle;
        here.execute(std::move(work));
        outer_stopped = spool::this_task::stop_requested();
    });
    EXPECT_TRUE(inner_stopped);
    EXPECT_FALSE(outer_stopped);
}

TEST(direct_executor, a_stop_of_the_outer_of_two_nested_tasks_reaches_the_inner) {
    spool::direct_executor here;
    bool before = true;
    bool after = false;
    bool told_by_token = false;
    here.execute([&] {
        spool::task_scope* const outer = spool::task_scope::current();
        here.execute([&](std::stop_token stop) {
            before = stop.stop_requested();
            outer->interrupt().request_stop();
            after = spool::this_task::stop_requested();
            told_by_token = stop.stop_requested();
        });
    });
    EXPECT_FALSE(before);
    EXPECT_TRUE(after);
    EXPECT_TRUE(told_by_token);
}

}  // namespace
