// delay_queue: how takers wait. The leader sleeps until the head is due. A leader that leaves
// passes the lead on.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <utility>
#include <vector>

#include "spool/queue/delay_queue.hpp"
#include "unit/queue/delayed.hpp"
#include "unit/sync/in_background.hpp"

namespace {

using spool::deadline;
using spool::delay_queue;
using spool::due_time;
using spool::wait_limits;
using spool::wait_result;
using test::delayed;
using test::from_now;
using test::long_ago;
using namespace std::chrono_literals;

using queue_of_delayed = delay_queue<delayed>;

// Waits for one element. The queue calls the predicate only after the taker has looked and is in
// line.
class waiting_taker {
public:
    explicit waiting_taker(
        queue_of_delayed& queue, deadline until = test::backstop(),
        std::function<bool()> give_up = [] { return false; })
        : thread_([this, &queue, until, give_up] {
              std::optional<delayed> x;
              const auto ask = [&] {
                  ++asked_;
                  in_line_.open();
                  return give_up();
              };
              how_ = queue.pop_until(x, {.until = until, .stop = stop_.get_token()}, ask);
              taken_at_ = std::chrono::steady_clock::now();
              taken_ = x.has_value() ? x->number : 0;
          }) {}
    [[nodiscard]] bool in_line() const { return in_line_.opens() && thread_.falls_asleep(); }
    void request_stop() { stop_.request_stop(); }
    [[nodiscard]] int asked() const { return asked_; }
    [[nodiscard]] bool has_ended() const { return thread_.has_ended(); }
    [[nodiscard]] bool ends() const { return thread_.ends(); }
    /// Valid after ends():
    [[nodiscard]] wait_result how() const { return how_; }
    [[nodiscard]] int taken() const { return taken_; }
    [[nodiscard]] due_time taken_at() const { return taken_at_; }

private:
    std::stop_source stop_;
    test::gate in_line_;
    std::atomic<int> asked_{0};
    wait_result how_{};
    int taken_ = 0;
    due_time taken_at_{};
    test::in_background thread_;
};

TEST(delay_queue_waiting, taker_waits_until_the_head_is_due) {
    queue_of_delayed queue;
    const due_time when = from_now(test::short_delay());
    queue.put(delayed{1, when});
    EXPECT_EQ(queue.take().number, 1);
    EXPECT_GE(std::chrono::steady_clock::now(), when);
}

TEST(delay_queue_waiting, new_element_wakes_a_taker) {
    queue_of_delayed queue;
    waiting_taker taker{queue};
    ASSERT_TRUE(taker.in_line());
    queue.put(delayed{1, long_ago()});
    ASSERT_TRUE(taker.ends());
    EXPECT_EQ(taker.taken(), 1);
}

TEST(delay_queue_waiting, new_delayed_element_makes_a_sleeper_the_leader) {
    queue_of_delayed queue;
    waiting_taker taker{queue};
    ASSERT_TRUE(taker.in_line());
    const due_time when = from_now(test::short_delay());
    queue.put(delayed{1, when});
    ASSERT_TRUE(taker.ends());
    EXPECT_EQ(taker.taken(), 1);
    EXPECT_GE(taker.taken_at(), when);
}

TEST(delay_queue_waiting, earlier_head_shortens_the_sleep_of_the_leader) {
    queue_of_delayed queue;
    queue.put(delayed{1, from_now(1h)});
    waiting_taker leader{queue};
    ASSERT_TRUE(leader.in_line());
    queue.put(delayed{2, from_now(test::short_delay())});
    ASSERT_TRUE(leader.ends());
    EXPECT_EQ(leader.taken(), 2);
    EXPECT_EQ(queue.size(), 1U);
}

TEST(delay_queue_waiting, removal_of_the_head_makes_the_leader_wait_for_the_next) {
    queue_of_delayed queue;
    const due_time first = from_now(test::medium_delay());
    const due_time second = first + test::small_delay();
    queue.put(delayed{1, first});
    queue.put(delayed{2, second});
    waiting_taker leader{queue};
    ASSERT_TRUE(leader.in_line());
    if (queue.remove_if([](const delayed& x) { return x.number == 1; }) == 0) {
        GTEST_SKIP() << "so slow that the first was due before it could be removed";
    }
    // The leader wakes up for the first element, finds the second one, and sleeps again.
    ASSERT_TRUE(leader.ends());
    EXPECT_EQ(leader.taken(), 2);
    EXPECT_GE(leader.taken_at(), second);
}

// Eight takers wait for two elements that are not due yet. The leader takes the first and wakes one
// taker for the second. The queue does not even call the predicates of the other takers.
TEST(delay_queue_waiting, followers_sleep_on_while_the_leader_serves) {
    queue_of_delayed queue;
    const due_time first = from_now(test::medium_delay());
    queue.put(delayed{1, first});
    queue.put(delayed{2, first + test::short_delay()});
    std::vector<std::unique_ptr<waiting_taker>> takers;
    std::vector<int> asked_before;
    for (int i = 0; i < 8; ++i) {
        takers.push_back(std::make_unique<waiting_taker>(queue));
        ASSERT_TRUE(takers.back()->in_line() || takers.back()->ends());
    }
    for (const auto& taker : takers) {
        asked_before.push_back(taker->asked());
    }
    ASSERT_TRUE(test::eventually([&] { return queue.empty(); }));
    int disturbed = 0;
    for (std::size_t i = 0; i < takers.size(); ++i) {
        disturbed += takers[i]->has_ended() || takers[i]->asked() != asked_before[i] ? 1 : 0;
    }
    EXPECT_LE(disturbed, 2);
    for (const auto& taker : takers) {
        taker->request_stop();
    }
}

// All takers sleep without a limit when the elements arrive: each new head wakes one of them.
TEST(delay_queue_waiting, new_head_wakes_one_of_many) {
    queue_of_delayed queue;
    std::vector<std::unique_ptr<waiting_taker>> takers;
    std::vector<int> asked_before;
    for (int i = 0; i < 8; ++i) {
        takers.push_back(std::make_unique<waiting_taker>(queue));
        ASSERT_TRUE(takers.back()->in_line());
        asked_before.push_back(takers.back()->asked());
    }
    queue.put(delayed{1, from_now(test::short_delay())});
    queue.put(delayed{2, from_now(test::small_delay())});
    ASSERT_TRUE(test::eventually([&] { return queue.empty(); }));
    int disturbed = 0;
    for (std::size_t i = 0; i < takers.size(); ++i) {
        disturbed += takers[i]->has_ended() || takers[i]->asked() != asked_before[i] ? 1 : 0;
    }
    EXPECT_LE(disturbed, 2);
    for (const auto& taker : takers) {
        taker->request_stop();
    }
}

TEST(delay_queue_waiting, elements_due_together_go_to_several_takers) {
    queue_of_delayed queue;
    waiting_taker first{queue};
    ASSERT_TRUE(first.in_line());
    waiting_taker second{queue};
    ASSERT_TRUE(second.in_line());
    waiting_taker third{queue};
    ASSERT_TRUE(third.in_line());
    const due_time together = from_now(test::short_delay());
    for (int i = 1; i <= 3; ++i) {
        queue.put(delayed{i, together});
    }
    ASSERT_TRUE(first.ends() && second.ends() && third.ends());
    EXPECT_EQ(first.taken() + second.taken() + third.taken(), 6);
}

// ---- The leader leaves without an element: the follower must wake up for the head instead.

// The first taker in line leads, the second sleeps without a limit: only the leader that leaves can
// wake it.
class delay_queue_lead : public testing::Test {
protected:
    // `leave` makes the leader leave. Then the follower must get the element when it is due.
    void expect_lead_passed_on(waiting_taker& leader, const std::function<void()>& leave, wait_result how) {
        waiting_taker follower{queue_};
        ASSERT_TRUE(follower.in_line());
        const int asked = follower.asked();
        leave();
        ASSERT_TRUE(leader.ends());
        EXPECT_EQ(leader.how(), how);
        EXPECT_EQ(leader.taken(), 0);
        // Asked again: the follower was woken to take the lead, since the head has not changed.
        EXPECT_TRUE(test::eventually([&] { return follower.asked() > asked || follower.has_ended(); }));
        ASSERT_TRUE(follower.ends());
        EXPECT_EQ(follower.taken(), 1);
        EXPECT_GE(follower.taken_at(), when_);
    }

    const due_time when_ = from_now(test::medium_delay());
    queue_of_delayed queue_{std::vector<delayed>{{1, when_}}};
};

TEST_F(delay_queue_lead, passes_on_when_the_leader_is_stopped) {
    waiting_taker leader{queue_};
    ASSERT_TRUE(leader.in_line());
    expect_lead_passed_on(
        leader, [&] { leader.request_stop(); }, wait_result::interrupted);
}

TEST_F(delay_queue_lead, passes_on_when_the_leader_times_out) {
    waiting_taker leader{queue_, deadline::after(test::small_delay())};
    ASSERT_TRUE(leader.in_line());
    expect_lead_passed_on(
        leader, [] {}, wait_result::timed_out);
}

TEST_F(delay_queue_lead, passes_on_when_the_leader_gives_up) {
    std::atomic<bool> closed{false};
    waiting_taker leader{queue_, test::backstop(), [&] { return closed.load(); }};
    ASSERT_TRUE(leader.in_line());
    expect_lead_passed_on(
        leader,
        [&] {
            closed = true;
            queue_.wake_consumers();
        },
        wait_result::gave_up);
}

TEST_F(delay_queue_lead, passes_on_when_the_predicate_of_the_leader_throws) {
    std::atomic<bool> broken{false};
    std::atomic<bool> caught{false};
    test::gate in_line;
    test::in_background leader{[&] {
        std::optional<delayed> x;
        try {
            static_cast<void>(queue_.pop_until(x, {.until = test::backstop()}, [&] {
                in_line.open();
                return broken ? throw std::runtime_error("predicate") : false;
            }));
        } catch (const std::runtime_error&) {
            caught = true;
        }
    }};
    ASSERT_TRUE(in_line.opens());
    waiting_taker follower{queue_};
    ASSERT_TRUE(follower.in_line());
    broken = true;
    queue_.wake_consumers();
    ASSERT_TRUE(leader.ends());
    EXPECT_TRUE(caught);
    ASSERT_TRUE(follower.ends());
    EXPECT_EQ(follower.taken(), 1);
}

// ---- Order of the answers

wait_limits all_over() {
    std::stop_source source;
    source.request_stop();
    return {.until = deadline::after(0s), .stop = source.get_token()};
}

// ---- A woken taker gets no CPU: it blocks in its predicate. The queue must wake another taker
// instead.

class delay_queue_stuck : public testing::Test {
protected:
    ~delay_queue_stuck() override { goes_on_.open(); }
    [[nodiscard]] bool another_takes_what_is_due() {
        waiting_taker other{queue_};
        const bool stood_in_line = other.in_line();
        const bool ended = test::eventually([&] {
            queue_.put(delayed{1, long_ago()});
            return other.has_ended();
        });
        return stood_in_line && ended && other.ends() && other.taken() == 1;
    }
    std::function<bool()> stand_still() {
        return [this] {
            goes_on_.wait();
            return false;
        };
    }

    queue_of_delayed queue_;
    test::gate goes_on_;
};

TEST_F(delay_queue_stuck, leader_that_does_not_come_loses_the_lead) {
    queue_.put(delayed{2, from_now(1h)});
    waiting_taker leader{queue_, test::backstop(), stand_still()};
    ASSERT_TRUE(leader.in_line());
    EXPECT_TRUE(another_takes_what_is_due());
    goes_on_.open();
    EXPECT_TRUE(leader.ends());
    EXPECT_EQ(leader.taken(), 1);
}

TEST_F(delay_queue_stuck, leader_that_does_not_return_from_its_sleep_loses_the_lead) {
    // A taker that comes after the due time takes the element and does not lead: then once more,
    // with a longer delay.
    std::unique_ptr<waiting_taker> leader;
    for (std::chrono::nanoseconds delay = test::short_delay(); leader == nullptr || leader->asked() == 0;
         delay *= 2) {
        queue_.put(delayed{1, from_now(delay)});
        leader = std::make_unique<waiting_taker>(queue_, test::backstop(), stand_still());
        ASSERT_TRUE(test::eventually([&] { return leader->asked() != 0 || leader->has_ended(); }));
    }
    ASSERT_TRUE(leader->in_line());
    EXPECT_TRUE(another_takes_what_is_due());
    goes_on_.open();
    EXPECT_TRUE(leader->ends());
}

TEST_F(delay_queue_stuck, called_taker_that_does_not_come_is_passed_over) {
    // The queue is empty, so no taker leads.
    waiting_taker called{queue_, test::backstop(), stand_still()};
    ASSERT_TRUE(called.in_line());
    EXPECT_TRUE(another_takes_what_is_due());
    goes_on_.open();
    EXPECT_TRUE(called.ends());
}

TEST(delay_queue_answers, element_takes_precedence_over_every_other_answer) {
    queue_of_delayed queue;
    queue.put(delayed{1, long_ago()});
    std::optional<delayed> x;
    EXPECT_EQ(queue.pop_until(x, all_over(), [] { return true; }), wait_result::ready);
    EXPECT_EQ(x->number, 1);
    EXPECT_EQ(queue.pop_until(x, all_over(), [] { return true; }), wait_result::gave_up);
    EXPECT_EQ(queue.pop_until(x, all_over()), wait_result::interrupted);
    EXPECT_EQ(queue.pop_until(x, {.until = deadline::after(0s)}), wait_result::timed_out);
    EXPECT_EQ(x, std::nullopt);
}

TEST(delay_queue_answers, element_added_at_the_last_moment_is_taken) {
    queue_of_delayed queue;
    std::optional<delayed> x;
    const auto how = queue.pop_until(x, {}, [&] {
        queue.put(delayed{1, long_ago()});
        return true;
    });
    EXPECT_EQ(how, wait_result::ready);
    EXPECT_EQ(x->number, 1);
}

TEST(delay_queue_answers, time_out_takes_precedence_over_a_later_due_time) {
    queue_of_delayed queue;
    queue.put(delayed{1, from_now(1h)});
    EXPECT_EQ(queue.poll_for(test::short_delay()), std::nullopt);
    EXPECT_EQ(queue.size(), 1U);
}

TEST(delay_queue_answers, stop_of_the_task_interrupts_the_plain_wait) {
    queue_of_delayed queue;
    queue.put(delayed{1, from_now(1h)});
    test::in_background taker{[&] { static_cast<void>(queue.take()); }};
    taker.interrupt();
    ASSERT_TRUE(taker.ends());
    EXPECT_TRUE(taker.was_interrupted());
}

}  // namespace
