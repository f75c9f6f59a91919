// serial_executor on a full target: a refusal concerns the refused task alone, and accepted tasks
// run.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "spool/executor/direct_executor.hpp"
#include "spool/executor/serial_executor.hpp"
#include "spool/executor/submit.hpp"
#include "spool/pool/thread_pool_executor.hpp"
#include "spool/queue/array_blocking_queue.hpp"
#include "spool/queue/work_stealing_queue.hpp"
#include "support/gate.hpp"
#include "support/throws.hpp"
#include "unit/executor/stderr_of.hpp"
#include "unit/executor/test_executors.hpp"

namespace {

using spool::serial_executor;
using spool::task;

/// Holds its first caller at a gate, then refuses it. Later tasks go to a manual_service.
struct refuses_the_first {
    test::gate asked;
    test::gate answer;
    std::atomic<int> calls{0};
    test::manual_service accepted;
    test::executor_of executor{[this](task work) {
        if (calls++ == 0) {
            asked.open();
            answer.wait();
            throw std::domain_error{"target is full"};
        }
        accepted.execute(std::move(work));
    }};
};

TEST(serial_executor_acceptance, a_refused_caller_takes_no_other_callers_task_along) {
    int ran = 0;
    bool refused_ran = false;
    refuses_the_first target;
    serial_executor lane{target.executor};
    std::string refusal;
    const std::string text = test::stderr_of([&] {
        std::jthread refused{[&] {
            refusal = test::what_of<std::domain_error>([&] { lane.execute([&] { refused_ran = true; }); });
        }};
        const test::open_at_end answers{target.answer};
        ASSERT_TRUE(target.asked.opens());
        for (int i = 0; i < 1000; ++i) {
            lane.execute([&] { ++ran; });
        }
        target.answer.open();
    });
    target.accepted.run_all();
    EXPECT_EQ(refusal, "target is full");
    EXPECT_FALSE(refused_ran);
    EXPECT_EQ(ran, 1000);
    EXPECT_EQ(text, "");
}

TEST(serial_executor_acceptance, a_call_succeeds_if_another_callers_drain_has_run_its_task) {
    std::atomic<int> ran{0};
    refuses_the_first target;
    serial_executor lane{target.executor};
    bool threw = false;
    {
        std::jthread waiting{[&] {
            try {
                lane.execute([&] { ++ran; });
            } catch (const std::domain_error&) {
                threw = true;
            }
        }};
        const test::open_at_end answers{target.answer};
        ASSERT_TRUE(target.asked.opens());
        lane.execute([&] { ran += 10; });
        target.accepted.run_all();
        EXPECT_EQ(ran, 11);
    }
    EXPECT_FALSE(threw);
}

TEST(serial_executor_acceptance, every_caller_of_a_full_target_is_refused_for_itself) {
    int asked = 0;
    test::executor_of full{[&](task) {
        ++asked;
        throw std::domain_error{"target is full"};
    }};
    serial_executor inner{full};
    serial_executor outer{static_cast<spool::executor&>(inner)};  // a refusal passes through both
    for (int i = 1; i <= 3; ++i) {
        EXPECT_EQ(test::what_of<std::domain_error>([&] { outer.execute([] {}); }), "target is full");
        EXPECT_EQ(asked, i);
    }
}

TEST(serial_executor_acceptance,
     a_task_that_a_rejection_handler_adds_to_the_lane_runs_once_and_without_recursion) {
    int asked = 0;
    std::vector<std::string> log;
    serial_executor* the_lane = nullptr;
    test::executor_of full{[&](task) {
        ++asked;
        the_lane->execute([&] { log.emplace_back("refused"); });
        throw std::domain_error{"target is full"};
    }};
    serial_executor lane{full};
    the_lane = &lane;
    bool ran = false;
    EXPECT_THROW(lane.execute([&] { ran = true; }), std::domain_error);
    EXPECT_EQ(asked, 1);
    EXPECT_FALSE(ran);
    EXPECT_EQ(log, std::vector<std::string>{"refused"});
}

TEST(serial_executor_acceptance, an_exception_of_a_task_added_by_a_rejection_handler_is_reported) {
    serial_executor* the_lane = nullptr;
    test::executor_of full{[&](task) {
        the_lane->execute([] { throw std::out_of_range{"no log"}; });
        throw std::domain_error{"target is full"};
    }};
    serial_executor lane{full};
    the_lane = &lane;
    const std::string text = test::stderr_of([&] { EXPECT_THROW(lane.execute([] {}), std::domain_error); });
    EXPECT_EQ(text, "spool: uncaught exception in a task of serial_executor: no log\n");
}

TEST(serial_executor_acceptance, a_dropped_drain_leaves_the_task_of_a_caller_that_still_waits) {
    refuses_the_first target;
    serial_executor lane{target.executor};
    std::atomic<bool> ran{false};
    std::string refusal;
    {
        std::jthread waiting{
            [&] { refusal = test::what_of<std::domain_error>([&] { lane.execute([&] { ran = true; }); }); }};
        const test::open_at_end answers{target.answer};
        ASSERT_TRUE(target.asked.opens());
        const auto dropped = spool::submit(lane, [] {});
        EXPECT_TRUE(target.accepted.drop_one());
        EXPECT_TRUE(dropped.is_cancelled());
    }
    EXPECT_EQ(refusal, "target is full");  // the caller is told: the task is not lost silently
    EXPECT_FALSE(ran);
}

TEST(serial_executor_acceptance, a_full_pool_refuses_with_its_own_reason) {
    test::gate done;
    spool::thread_pool_executor pool(
        {.core_size = 1, .maximum_size = 1, .queue = std::make_unique<spool::array_blocking_queue<task>>(1)});
    const test::open_at_end opens{done};
    pool.execute([&] { done.wait(); });
    pool.execute([] {});
    serial_executor lane{pool};
    try {
        lane.execute([] {});
        FAIL() << "accepted";
    } catch (const spool::rejected_execution& e) {
        EXPECT_EQ(e.reason(), spool::rejection_reason::full);
    }
}

TEST(serial_executor_acceptance, on_a_full_pool_every_task_runs_or_is_refused_to_its_caller) {
    constexpr int callers = 4;
    constexpr int per_caller = 200;
    std::atomic<int> ran{0};
    std::atomic<int> refused{0};
    {
        spool::thread_pool_executor pool({.core_size = 1,
                                          .maximum_size = 1,
                                          .queue = std::make_unique<spool::array_blocking_queue<task>>(1),
                                          .rejection = spool::block_policy{std::chrono::microseconds{20}}});
        serial_executor lane{pool};
        std::vector<std::jthread> threads;
        for (int t = 0; t < callers; ++t) {
            threads.emplace_back([&] {
                for (int i = 0; i < per_caller; ++i) {
                    try {
                        pool.execute([] { std::this_thread::yield(); });
                    } catch (const spool::rejected_execution&) {  // this task only fills the pool
                    }
                    try {
                        lane.execute([&] { ++ran; });
                    } catch (const spool::rejected_execution& e) {
                        EXPECT_EQ(e.reason(), spool::rejection_reason::full);
                        ++refused;
                    }
                }
            });
        }
    }
    EXPECT_EQ(ran + refused, callers * per_caller);
}

TEST(serial_executor_acceptance, on_a_stealing_pool_at_most_32_tasks_run_before_the_turn_of_another) {
    constexpr int many = 1000;
    int ran = 0;
    int before_the_other = -1;
    test::gate running;
    test::gate go_on;
    spool::thread_pool_executor pool(
        {.core_size = 1, .queue = std::make_unique<spool::work_stealing_queue<task>>()});
    const test::open_at_end opens{go_on};
    serial_executor lane{pool};
    lane.execute([&] {
        running.open();
        go_on.wait();
        ++ran;
    });
    ASSERT_TRUE(running.opens());
    for (int i = 1; i < many; ++i) {
        lane.execute([&] { ++ran; });
    }
    pool.execute([&] { before_the_other = ran; });
    go_on.open();
    spool::submit(lane, [] {}).get();
    pool.close();
    EXPECT_EQ(before_the_other, 32);
    EXPECT_EQ(ran, many);
}

TEST(serial_executor_acceptance, on_a_stealing_pool_a_lanes_next_turn_runs_after_the_children_of_its_tasks) {
    constexpr int many = 100;
    int ran = 0;
    int before_the_fork = -1;
    spool::thread_pool_executor pool(
        {.core_size = 1, .queue = std::make_unique<spool::work_stealing_queue<task>>()});
    serial_executor lane{pool};
    spool::submit(lane, [&] {
        pool.execute([&] { before_the_fork = ran; });
        for (int i = 0; i < many; ++i) {
            lane.execute([&] { ++ran; });
        }
    }).get();
    spool::submit(lane, [] {}).get();  // a closed pool would not grant the lane its next turn
    pool.close();
    EXPECT_LE(before_the_fork, 32);
    EXPECT_EQ(ran, many);
}

/// A callable that calls a function when it is moved or destroyed, as user code may.
class hostile {
public:
    explicit hostile(std::function<void()>& act) : act_(&act) {}
    hostile(hostile&& other) noexcept : act_(other.act_) { (*act_)(); }
    hostile& operator=(hostile&&) = delete;
    ~hostile() { (*act_)(); }
    void operator()() const {}

private:
    std::function<void()>* act_;
};

TEST(serial_executor_acceptance, moving_or_destroying_a_task_may_add_to_the_lane) {
    int added = 0;
    bool inside = false;
    test::manual_service target;
    serial_executor lane{target};
    std::function<void()> act = [&] {
        if (!std::exchange(inside, true)) {
            lane.execute([&] { ++added; });
            inside = false;
        }
    };
    for (int i = 0; i < 3; ++i) {
        lane.execute(hostile{act});
    }
    target.run_all();
    EXPECT_TRUE(target.held() == 0 && added > 0);
    lane.execute(hostile{act});
    EXPECT_TRUE(target.drop_one());
}

}  // namespace
