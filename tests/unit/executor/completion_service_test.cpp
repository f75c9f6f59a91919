// completion_service beyond what Java guarantees: which queues it accepts, and that every future
// comes out.
#include "spool/executor/completion_service.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "spool/executor/direct_executor.hpp"
#include "spool/executor/thread_per_task_executor.hpp"
#include "support/delays.hpp"
#include "support/gate.hpp"
#include "support/throws.hpp"
#include "unit/executor/test_executors.hpp"

namespace {

using spool::completion_service;
using spool::task;
using int_queue = spool::linked_blocking_queue<spool::future<int>>;

TEST(completion_service, a_bounded_queue_is_refused_with_its_capacity) {
    spool::direct_executor here;
    const auto make = [&] { const completion_service<int> made(here, std::make_shared<int_queue>(17)); };
    EXPECT_EQ(test::what_of<std::invalid_argument>(make),
              "completion_service: the queue is bounded (capacity 17); a completion that finds it full would "
              "be lost");
}

TEST(completion_service, futures_come_out_in_the_order_in_which_they_get_done) {
    test::gate first_may_end;
    spool::thread_per_task_executor threads;
    const test::open_at_end at_end{first_may_end};
    completion_service<int> done{threads};
    const auto slow = done.submit([&] {
        first_may_end.wait();
        return 1;
    });
    const auto quick = done.submit([] { return 2; });
    EXPECT_EQ(done.take(), quick);
    first_may_end.open();
    EXPECT_EQ(done.take(), slow);
}

TEST(completion_service, a_future_cancelled_before_its_start_can_be_taken) {
    test::manual_service held;
    completion_service<int> done{held};
    const auto f = done.submit([] { return 1; });
    EXPECT_FALSE(done.poll().has_value());
    EXPECT_TRUE(f.cancel());
    const auto out = done.poll();
    ASSERT_TRUE(out.has_value());
    EXPECT_EQ(*out, f);
    EXPECT_TRUE(out->is_cancelled());
    held.run_all();
    EXPECT_FALSE(done.poll().has_value());
}

TEST(completion_service, a_future_whose_task_the_executor_drops_can_be_taken_and_is_cancelled) {
    test::manual_service held;
    completion_service<int> done{held};
    const auto f = done.submit([] { return 1; });
    EXPECT_TRUE(held.drop_one());
    EXPECT_EQ(done.take(), f);
    EXPECT_TRUE(f.is_cancelled());
}

TEST(completion_service, a_submit_that_throws_leaves_nothing_to_take) {
    bool refuse = true;
    spool::direct_executor here;
    test::executor_of where{[&](task work) {
        if (refuse) {
            throw std::length_error{"full"};
        }
        here.execute(std::move(work));
    }};
    completion_service<int> done{where};
    EXPECT_THROW(done.submit([] { return 1; }), std::length_error);
    EXPECT_FALSE(done.poll().has_value());
    refuse = false;
    (void)done.submit([] { return 2; });
    EXPECT_EQ(done.take().get(), 2);
}

TEST(completion_service, it_may_be_destroyed_before_its_tasks_are_done) {
    test::manual_service held;
    spool::future<int> f;
    {
        completion_service<int> done{held};
        f = done.submit([] { return 1; });
    }
    held.run_all();
    EXPECT_EQ(f.get(), 1);
}

TEST(completion_service, futures_outlive_the_service_they_were_taken_from) {
    spool::future<std::string> kept;
    {
        spool::thread_per_task_executor threads;
        completion_service<std::string> done{threads};
        (void)done.submit([] { return "value"; });
        kept = done.take();
    }
    EXPECT_EQ(kept.get(), "value");
}

TEST(completion_service, two_services_may_share_one_queue) {
    const auto shared = std::make_shared<int_queue>();
    spool::direct_executor here;
    spool::thread_per_task_executor threads;
    completion_service<int> one{here, shared};
    completion_service<int> two{threads, shared};
    const auto first = one.submit([] { return 1; });
    EXPECT_EQ(two.take(), first);
    const auto second = two.submit([] { return 2; });
    EXPECT_EQ(one.take(), second);
    EXPECT_TRUE(shared->empty());
}

TEST(completion_service, take_is_interrupted_by_its_token) {
    spool::direct_executor here;
    completion_service<int> done{here};
    std::stop_source stop;
    std::jthread stopper{[&] { stop.request_stop(); }};
    EXPECT_THROW((void)done.take(stop.get_token()), spool::interrupted);
    EXPECT_THROW((void)done.poll_for(test::long_delay(), stop.get_token()), spool::interrupted);
}

TEST(completion_service, take_in_a_task_is_interrupted_by_the_stop_of_the_task) {
    spool::direct_executor here;
    completion_service<int> done{here};
    test::gate waiting;
    test::gate was_interrupted;
    spool::thread_per_task_executor caller;
    caller.execute([&] {
        waiting.open();
        try {
            (void)done.take();
        } catch (const spool::interrupted&) {
            was_interrupted.open();
        }
    });
    ASSERT_TRUE(waiting.opens());
    caller.shutdown_now();
    EXPECT_TRUE(was_interrupted.opens());
}

TEST(completion_service, a_done_future_takes_precedence_over_an_interruption) {
    spool::direct_executor here;
    completion_service<int> done{here};
    std::stop_source stop;
    stop.request_stop();
    (void)done.submit([] { return 1; });
    EXPECT_EQ(done.take(stop.get_token()).get(), 1);
}

TEST(completion_service, results_may_be_nothing_or_only_be_moved) {
    spool::direct_executor here;
    completion_service<void> actions{here};
    (void)actions.submit([] {});
    (void)actions.submit([] { return 7; });  // the result is dropped
    EXPECT_NO_THROW(actions.take().get());
    EXPECT_NO_THROW(actions.take().get());
    completion_service<std::unique_ptr<int>> boxes{here};
    (void)boxes.submit([] { return std::make_unique<int>(7); });
    EXPECT_EQ(*boxes.take().get(), 7);
}

TEST(completion_service, every_future_of_many_threads_is_taken_once) {
    constexpr int per_thread = 50;
    spool::thread_per_task_executor threads;
    completion_service<int> done{threads};
    {
        std::vector<std::jthread> submitters;
        for (int t = 0; t < 4; ++t) {
            submitters.emplace_back([&, t] {
                for (int i = 0; i < per_thread; ++i) {
                    (void)done.submit([n = t * per_thread + i] { return n; });
                }
            });
        }
    }
    std::vector<int> seen(4 * per_thread, 0);
    for (int i = 0; i < 4 * per_thread; ++i) {
        ++seen.at(static_cast<std::size_t>(done.take().get()));
    }
    EXPECT_EQ(seen, std::vector<int>(4 * per_thread, 1));
    EXPECT_FALSE(done.poll().has_value());
}

}  // namespace
