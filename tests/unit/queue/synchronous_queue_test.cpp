// synchronous_queue: which waiter is served first, and that a waiter that is served gets its
// element.
#include "spool/queue/synchronous_queue.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <utility>

#include "unit/sync/in_background.hpp"

namespace {

using spool::deadline;
using spool::fairness;
using spool::synchronous_queue;
using spool::wait_limits;
using spool::wait_result;
using namespace std::chrono_literals;

// Waits to take one element. The queue calls the predicate only after it has enrolled the taker:
// enrolled() is exact.
class waiting_taker {
public:
    explicit waiting_taker(synchronous_queue<int>& queue)
        : thread_([this, &queue] {
              std::optional<int> x;
              static_cast<void>(queue.pop_until(x, {.until = test::backstop()}, [this] {
                  enrolled_.open();
                  return left_.load();
              }));
              taken_ = x.value_or(0);
          }) {}
    [[nodiscard]] bool enrolled() const { return enrolled_.opens(); }
    void leave() { left_ = true; }
    [[nodiscard]] bool has_ended() const { return thread_.has_ended(); }
    [[nodiscard]] int taken() const { return thread_.ends() ? taken_.load() : -1; }

private:
    test::gate enrolled_;
    std::atomic<bool> left_{false};
    std::atomic<int> taken_{0};
    test::in_background thread_;
};

TEST(synchronous_queue_order, unfair_serves_the_newest_taker) {
    synchronous_queue<int> queue;
    waiting_taker oldest{queue};
    ASSERT_TRUE(oldest.enrolled());
    waiting_taker middle{queue};
    ASSERT_TRUE(middle.enrolled());
    waiting_taker newest{queue};
    ASSERT_TRUE(newest.enrolled());
    EXPECT_TRUE(queue.offer(1));
    EXPECT_TRUE(queue.offer(2));
    EXPECT_TRUE(queue.offer(3));
    EXPECT_EQ(newest.taken(), 1);
    EXPECT_EQ(middle.taken(), 2);
    EXPECT_EQ(oldest.taken(), 3);
}

TEST(synchronous_queue_order, fair_queue_serves_the_longest_waiting_thread) {
    synchronous_queue<int> queue{fairness::fair};
    waiting_taker oldest{queue};
    ASSERT_TRUE(oldest.enrolled());
    waiting_taker middle{queue};
    ASSERT_TRUE(middle.enrolled());
    waiting_taker newest{queue};
    ASSERT_TRUE(newest.enrolled());
    EXPECT_TRUE(queue.offer(1));
    EXPECT_TRUE(queue.offer(2));
    EXPECT_TRUE(queue.offer(3));
    EXPECT_EQ(oldest.taken(), 1);
    EXPECT_EQ(middle.taken(), 2);
    EXPECT_EQ(newest.taken(), 3);
}

// A taker in the middle leaves: the links around it stay intact.
TEST(synchronous_queue_order, other_waiters_are_served_after_one_has_left) {
    synchronous_queue<int> queue{fairness::fair};
    waiting_taker first{queue};
    ASSERT_TRUE(first.enrolled());
    waiting_taker second{queue};
    ASSERT_TRUE(second.enrolled());
    waiting_taker third{queue};
    ASSERT_TRUE(third.enrolled());
    second.leave();
    queue.wake_consumers();
    EXPECT_EQ(second.taken(), 0);
    EXPECT_TRUE(queue.offer(1));
    EXPECT_TRUE(queue.offer(2));
    EXPECT_FALSE(queue.offer(3));
    EXPECT_EQ(first.taken(), 1);
    EXPECT_EQ(third.taken(), 2);
}

std::array<int, 2> polled_from_two_givers(synchronous_queue<int>& queue) {
    test::gate first_enrolled;
    test::gate second_enrolled;
    const auto give = [&](int x, test::gate& enrolled) {
        static_cast<void>(queue.push_until(x, {.until = test::backstop()}, [&] {
            enrolled.open();
            return false;
        }));
    };
    test::in_background first{[&] { give(1, first_enrolled); }};
    EXPECT_TRUE(first_enrolled.opens());
    test::in_background second{[&] { give(2, second_enrolled); }};
    EXPECT_TRUE(second_enrolled.opens());
    const int one = queue.poll().value_or(0);
    const int other = queue.poll().value_or(0);
    EXPECT_TRUE(first.ends() && second.ends());
    return {one, other};
}

TEST(synchronous_queue_order, holds_for_givers_too) {
    synchronous_queue<int> fair{fairness::fair};
    EXPECT_EQ(polled_from_two_givers(fair), (std::array{1, 2}));
    synchronous_queue<int> unfair{fairness::unfair};
    EXPECT_EQ(polled_from_two_givers(unfair), (std::array{2, 1}));
}

// ---- Served at the last moment: the predicate runs while the taker is enrolled, so its offer
// comes in the middle of the wait.

TEST(synchronous_queue_last_moment, taker_that_gives_up_while_it_is_served_gets_the_element) {
    synchronous_queue<std::unique_ptr<int>> queue;
    std::optional<std::unique_ptr<int>> x;
    const auto how = queue.pop_until(x, {}, [&] {
        EXPECT_TRUE(queue.offer(std::make_unique<int>(7)));
        return true;
    });
    EXPECT_EQ(how, wait_result::ready);
    ASSERT_TRUE(x.has_value());
    EXPECT_EQ(**x, 7);
}

TEST(synchronous_queue_last_moment, taker_that_is_stopped_while_it_is_served_gets_the_element) {
    synchronous_queue<int> queue;
    std::stop_source source;
    std::optional<int> x;
    const auto how = queue.pop_until(x, {.stop = source.get_token()}, [&] {
        EXPECT_TRUE(queue.offer(7));
        source.request_stop();
        return false;
    });
    EXPECT_EQ(how, wait_result::ready);
    EXPECT_EQ(x, 7);
}

TEST(synchronous_queue_last_moment, taker_that_times_out_while_it_is_served_gets_the_element) {
    synchronous_queue<int> queue;
    std::optional<int> x;
    const auto how = queue.pop_until(x, {.until = deadline::after(0s)}, [&] {
        EXPECT_TRUE(queue.offer(7));
        return false;
    });
    EXPECT_EQ(how, wait_result::ready);
    EXPECT_EQ(x, 7);
}

TEST(synchronous_queue_last_moment, taker_whose_predicate_throws_while_it_is_served_gets_the_element) {
    synchronous_queue<int> queue;
    std::optional<int> x;
    const auto how = queue.pop_until(x, {}, [&]() -> bool {
        EXPECT_TRUE(queue.offer(7));
        throw std::runtime_error("predicate");
    });
    EXPECT_EQ(how, wait_result::ready);
    EXPECT_EQ(x, 7);
}

TEST(synchronous_queue_last_moment, giver_that_gives_up_while_it_is_served_has_given) {
    synchronous_queue<std::unique_ptr<int>> queue;
    auto x = std::make_unique<int>(7);
    std::optional<std::unique_ptr<int>> taken;
    const auto how = queue.push_until(x, {}, [&] {
        taken = queue.poll();
        return true;
    });
    EXPECT_EQ(how, wait_result::ready);
    EXPECT_EQ(x, nullptr);
    ASSERT_TRUE(taken.has_value());
    EXPECT_EQ(**taken, 7);
}

TEST(synchronous_queue_last_moment, predicate_that_throws_leaves_no_waiter_in_the_queue) {
    synchronous_queue<int> queue;
    std::optional<int> taken;
    const auto throws = []() -> bool { throw std::runtime_error("predicate"); };
    EXPECT_THROW(queue.pop_until(taken, {}, throws), std::runtime_error);
    EXPECT_FALSE(queue.offer(1));
    int given = 1;
    EXPECT_THROW(queue.push_until(given, {}, throws), std::runtime_error);
    EXPECT_EQ(queue.poll(), std::nullopt);
}

// ---- Hand-over

TEST(synchronous_queue_hand_over, offer_without_a_taker_does_not_move_the_element) {
    synchronous_queue<std::unique_ptr<int>> queue;
    auto x = std::make_unique<int>(7);
    EXPECT_FALSE(queue.offer(std::move(x)));
    EXPECT_FALSE(queue.offer_for(std::move(x), 1us));
    ASSERT_NE(x, nullptr);
    EXPECT_EQ(*x, 7);
    EXPECT_EQ(queue.size(), 0U);
    EXPECT_EQ(queue.capacity(), 0U);
    EXPECT_EQ(queue.remaining_capacity(), 0U);
}

TEST(synchronous_queue_hand_over, taker_overwrites_the_old_value_of_its_variable) {
    synchronous_queue<int> queue;
    std::optional<int> x = 5;
    EXPECT_EQ(queue.pop_until(x, {.until = deadline::after(0s)}), wait_result::timed_out);
    EXPECT_EQ(x, std::nullopt);
}

TEST(synchronous_queue_hand_over, put_and_take_meet) {
    synchronous_queue<std::unique_ptr<int>> queue{fairness::fair};
    int taken = 0;
    test::in_background taker{[&] { taken = *queue.take(); }};
    queue.put(std::make_unique<int>(7));
    ASSERT_TRUE(taker.ends());
    EXPECT_EQ(taken, 7);
}

TEST(synchronous_queue_hand_over, stop_ends_both_waits) {
    synchronous_queue<int> queue;
    test::in_background taker{[&] { static_cast<void>(queue.take()); }};
    taker.interrupt();
    ASSERT_TRUE(taker.ends());
    EXPECT_TRUE(taker.was_interrupted());
    test::in_background giver{[&] { queue.put(1); }};
    giver.interrupt();
    ASSERT_TRUE(giver.ends());
    EXPECT_TRUE(giver.was_interrupted());
    EXPECT_FALSE(queue.offer(1));
    EXPECT_EQ(queue.poll(), std::nullopt);
}

}  // namespace
