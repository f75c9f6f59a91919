// The priority and due time of a callable survive submit.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <stdexcept>

#include "spool/executor/submit.hpp"
#include "unit/executor/direct_service.hpp"
#include "unit/executor/test_executors.hpp"

namespace {

using spool::with_priority;

spool::task as_it_is(spool::task body) {
    return body;
}

TEST(submit_priority, a_plain_task_keeps_its_priority) {
    test::manual_service held;
    held.execute(with_priority(7, [] {}));
    EXPECT_EQ(held.next_order().priority, 7);
}

TEST(submit_priority, a_submitted_function_keeps_its_priority) {
    test::manual_service held;
    const auto f = held.submit(with_priority(7, [] { return 1; }));
    EXPECT_EQ(held.next_order().priority, 7);
    held.run_all();
    EXPECT_EQ(f.get(), 1);
}

TEST(submit_priority, a_submitted_function_with_a_stop_token_keeps_its_priority) {
    test::manual_service held;
    const auto f = held.submit(with_priority(-3, [](std::stop_token stop) { return stop.stop_possible(); }));
    EXPECT_EQ(held.next_order().priority, -3);
    held.run_all();
    EXPECT_TRUE(f.get());
}

TEST(submit_priority, an_action_submitted_with_a_value_keeps_its_priority) {
    test::manual_service held;
    const auto f = held.submit(with_priority(7, [] {}), 2);
    EXPECT_EQ(held.next_order().priority, 7);
    held.run_all();
    EXPECT_EQ(f.get(), 2);
}

TEST(submit_priority, a_decorated_task_keeps_its_priority) {
    test::manual_service held;
    test::decorated_executor where{held, as_it_is};
    const auto f = spool::submit(where, with_priority(7, [] { return 1; }));
    EXPECT_EQ(held.next_order().priority, 7);
    held.run_all();
    const auto g = spool::submit(where, with_priority(8, [] {}), 2);
    EXPECT_EQ(held.next_order().priority, 8);
    held.run_all();
    EXPECT_EQ(f.get() + g.get(), 3);
}

struct due_later {
    spool::due_time when;
    [[nodiscard]] spool::due_time due() const { return when; }
    int operator()() const { return 1; }
};

TEST(submit_priority, a_due_time_is_kept_with_and_without_a_decorator) {
    const spool::due_time when{std::chrono::hours{5}};
    test::manual_service held;
    test::decorated_executor where{held, as_it_is};
    const auto f = held.submit(due_later{when});
    EXPECT_EQ(held.next_order().due, when);
    held.run_all();
    const auto g = spool::submit(where, due_later{when});
    EXPECT_EQ(held.next_order().due, when);
    held.run_all();
    const auto h = held.submit(due_later{when}, 5);
    EXPECT_EQ(held.next_order().due, when);
    held.run_all();
    EXPECT_EQ(f.get() + g.get() + h.get(), 7);
}

TEST(submit_priority, an_empty_callable_with_a_priority_is_refused) {
    test::manual_service held;
    EXPECT_THROW((void)held.submit(with_priority(7, std::function<int()>{})), std::invalid_argument);
    EXPECT_THROW((void)held.submit(with_priority(7, std::function<void()>{}), 1), std::invalid_argument);
    EXPECT_THROW(held.execute(with_priority(7, std::function<void()>{})), std::invalid_argument);
    EXPECT_EQ(held.held(), 0U);
}

template <class F>
struct wraps {
    F f;
    void operator()() { f(); }
};

// Templates, so that this file compiles even if the claim is false.
template <class Task>
void submit_a_task(spool::executor& where, Task body) {
    if constexpr (spool::detail::nullable_callable<wraps<Task>>) {
        FAIL() << "a callable that holds a task is taken for one that can be compared with null";
    } else {
        spool::submit(where, std::move(body)).get();
    }
}

TEST(submit_priority, a_task_can_itself_be_submitted) {
    bool ran = false;
    test::direct_service here;
    submit_a_task(here, spool::task{[&] { ran = true; }});
    EXPECT_TRUE(ran);
}

TEST(submit_priority, the_task_given_to_the_executor_has_the_id_of_the_future) {
    spool::task_id id = 0;
    test::executor_of where{[&](spool::task work) { id = work.id(); }};
    const auto f = spool::submit(where, [] {});
    EXPECT_EQ(f.id(), id);
    EXPECT_NE(id, 0U);
}

}  // namespace
