// A task that never asks for its token pays nothing for being stoppable.
#include <gtest/gtest.h>

#include <stop_token>

#include "spool/base/task.hpp"
#include "spool/detail/task_scope.hpp"
#include "spool/sync/event_count.hpp"
#include "spool/sync/this_task.hpp"
#include "unit/base/counted_allocations.hpp"

namespace {

using spool::task;
using spool::task_scope;
using test::allocations_of;

TEST(task_scope_allocations, scope_whose_token_is_not_used_allocates_nothing) {
    task work = [] {};
    EXPECT_EQ(allocations_of([&] {
                  task_scope scope{work};
                  work();
                  scope.reset(work);
                  work();
              }),
              0U);
}

TEST(task_scope_allocations, asking_whether_to_stop_allocates_nothing) {
    EXPECT_EQ(allocations_of([] {
                  task_scope outer;
                  task_scope inner;
                  EXPECT_FALSE(spool::this_task::stop_requested());
                  spool::this_task::interruption_point();
                  inner.interrupt().request_stop();
                  EXPECT_TRUE(spool::this_task::stop_requested());
              }),
              0U);
}

TEST(task_scope_allocations, token_is_allocated_once) {
    task_scope scope;
    EXPECT_GT(allocations_of([&] { static_cast<void>(scope.token()); }), 0U);
    EXPECT_EQ(allocations_of([&] { static_cast<void>(scope.token()); }), 0U);
}

TEST(task_scope_allocations, reset_keeps_nothing_of_the_old_token) {
    const task next = [] {};
    task_scope scope;
    static_cast<void>(scope.token());
    const std::size_t before = test::deallocations();
    EXPECT_EQ(allocations_of([&] { scope.reset(next); }), 0U);
    EXPECT_GT(test::deallocations(), before);
}

TEST(task_scope_allocations, token_outside_of_any_task_allocates_nothing) {
    EXPECT_EQ(allocations_of([] { EXPECT_FALSE(spool::this_task::stop_token().stop_possible()); }), 0U);
}

TEST(event_count_allocations, waiting_without_a_token_allocates_nothing) {
    spool::event_count events;
    EXPECT_EQ(allocations_of([&] {
                  const auto how = events.await(
                      [] { return false; }, {.until = spool::deadline::after(std::chrono::microseconds{1})});
                  EXPECT_EQ(how, spool::wait_result::timed_out);
                  events.notify_all();
              }),
              0U);
}

}  // namespace
