// What every kind guarantees: no user code under the lock, empty tasks refused, answers in a fixed
// order.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "spool/queue/delay_queue.hpp"
#include "spool/queue/linked_blocking_deque.hpp"
#include "spool/queue/linked_transfer_queue.hpp"
#include "spool/queue/priority_blocking_queue.hpp"
#include "unit/queue/asks_for_size.hpp"
#include "unit/sync/in_background.hpp"

namespace {

using spool::task;
using spool::wait_result;
using test::asks_for_size;
using namespace std::chrono_literals;

template <class Queue>
class storing_kind : public testing::Test {};
using storing_kinds =
    testing::Types<spool::priority_blocking_queue<asks_for_size>, spool::delay_queue<asks_for_size>,
                   spool::linked_transfer_queue<asks_for_size>, spool::linked_blocking_deque<asks_for_size>>;
TYPED_TEST_SUITE(storing_kind, storing_kinds);

TYPED_TEST(storing_kind, destroys_elements_without_its_lock) {
    TypeParam queue;
    asks_for_size::answers answers{queue};
    for (int i = 0; i < 8; ++i) {
        queue.put(asks_for_size{answers, -i});
    }
    int asked = 0;
    EXPECT_EQ(queue.remove_if([&](const asks_for_size&) { return ++asked % 2 == 0; }), 4U);
    EXPECT_EQ(answers.given, 4);
    static_cast<void>(queue.take());
    EXPECT_EQ(answers.given, 5);
    queue.clear();
    EXPECT_EQ(answers.given, 8);
    std::optional<asks_for_size> old{asks_for_size{answers}};
    static_cast<void>(queue.pop_until(old, {.until = spool::deadline::after(0s)}));
    EXPECT_EQ(answers.given, 9);
    EXPECT_EQ(answers.refused, 0);
}

TYPED_TEST(storing_kind, destroys_the_remaining_elements) {
    std::optional<TypeParam> other{std::in_place};
    TypeParam living;
    asks_for_size::answers answers{living};
    other->put(asks_for_size{answers});
    other->put(asks_for_size{answers});
    other.reset();
    EXPECT_EQ(answers.given, 2);
}

template <class Queue>
class kind_of_tasks : public testing::Test {};
using kinds_of_tasks = testing::Types<spool::priority_blocking_queue<task>, spool::delay_queue<task>,
                                      spool::linked_transfer_queue<task>, spool::linked_blocking_deque<task>>;
TYPED_TEST_SUITE(kind_of_tasks, kinds_of_tasks);

TYPED_TEST(kind_of_tasks, refuses_an_empty_task) {
    TypeParam queue;
    EXPECT_THROW(static_cast<void>(queue.offer(task{})), std::invalid_argument);
    EXPECT_THROW(queue.put(task{}), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(queue.offer_for(task{}, 1s)), std::invalid_argument);
    EXPECT_TRUE(queue.empty());
}

TYPED_TEST(kind_of_tasks, answers_in_the_order_of_the_base) {
    TypeParam queue;
    std::stop_source source;
    source.request_stop();
    const spool::wait_limits over{.until = spool::deadline::after(0s), .stop = source.get_token()};
    const auto yes = [] { return true; };
    std::optional<task> x;
    queue.put([] {});
    EXPECT_EQ(queue.pop_until(x, over, yes), wait_result::ready);
    EXPECT_EQ(queue.pop_until(x, over, yes), wait_result::gave_up);
    EXPECT_EQ(queue.pop_until(x, over), wait_result::interrupted);
    EXPECT_EQ(queue.pop_until(x, {.until = spool::deadline::after(0s)}), wait_result::timed_out);
    EXPECT_FALSE(x.has_value());
}

TYPED_TEST(kind_of_tasks, wake_makes_takers_ask_again) {
    TypeParam queue;
    std::atomic<bool> closed{false};
    wait_result answer{};
    test::in_background taker{[&] {
        std::optional<task> x;
        answer = queue.pop_until(x, {.until = test::backstop()}, [&] { return closed.load(); });
    }};
    ASSERT_TRUE(taker.falls_asleep());
    closed = true;
    queue.wake_consumers();
    ASSERT_TRUE(taker.ends());
    EXPECT_EQ(answer, wait_result::gave_up);
}

TYPED_TEST(kind_of_tasks, keeps_working_after_a_predicate_has_thrown) {
    TypeParam queue;
    std::optional<task> x;
    EXPECT_THROW(queue.pop_until(x, {}, []() -> bool { throw std::runtime_error("predicate"); }),
                 std::runtime_error);
    queue.put([] {});
    EXPECT_EQ(queue.size(), 1U);
    EXPECT_TRUE(queue.take());
}

}  // namespace
