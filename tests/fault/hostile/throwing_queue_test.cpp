// A user's own queue, each of whose members may throw: the n-th call does, for every n.
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "fault/support/account.hpp"
#include "fault/support/thrower.hpp"
#include "support/eventually.hpp"
#include "unit/pool/behaviour/pool_helpers.hpp"

namespace {

using namespace std::chrono_literals;
using test::account;
using test::may_throw;
using test::users_code;

// Throws before it changes anything, so no element is lost by an exception.
class fragile_queue final : public spool::blocking_queue<spool::task> {
public:
    [[nodiscard]] std::size_t size() const override {
        may_throw("size");
        return inner_.size();
    }
    [[nodiscard]] std::size_t capacity() const override {
        may_throw("capacity");
        return inner_.capacity();
    }
    void attach_consumer() override { may_throw("attach_consumer"); }

protected:
    bool try_push(spool::task& x) override {
        may_throw("try_push");
        return inner_.offer(std::move(x));
    }
    std::optional<spool::task> try_pop() override {
        may_throw("try_pop");
        return inner_.poll();
    }
    std::vector<spool::task> extract_if(spool::function_ref<bool(const spool::task&)> wanted) override {
        may_throw("extract_if");
        return inner_.take_if(wanted);
    }

private:
    spool::linked_blocking_queue<spool::task> inner_;
};

spool::pool_options over_a_fragile_queue(test::record<std::string>& reported) {
    return {.name = "fault",
            .core_size = 1,
            .maximum_size = 1,
            .queue = std::make_unique<fragile_queue>(),
            .uncaught = [&reported](const spool::worker_info&, const std::exception_ptr& e) {
                reported.add(spool::describe(e));
            }};
}

void expect_told(const account& tasks, const test::record<std::string>& reported) {
    tasks.expect_causes({"planted in"});
    for (const std::string& text : reported.all()) {
        EXPECT_TRUE(test::contains(text, "planted in")) << text;
    }
}

TEST(throwing_queue, at_every_point_of_a_pools_life_loses_no_task) {
    test::at_every_point(users_code, "throwing: a user's queue, submit to close", [](int n) {
        account tasks;
        test::record<std::string> reported;
        {
            spool::thread_pool_executor pool(over_a_fragile_queue(reported));
            users_code.arm(n);
            for (int i = 0; i < 3; ++i) {
                tasks.hand_over([&] { pool.execute(tasks.body()); });
                tasks.hand_over([&] { static_cast<void>(pool.submit(tasks.body())); });
            }
            tasks.hand_over([&] { pool.set_core_size(1); }, 0);
            tasks.hand_over([&] { static_cast<void>(pool.snapshot()); }, 0);
        }  // a call of the pool's destructor may be the one that throws
        tasks.expect_balance();
        expect_told(tasks, reported);
    });
}

TEST(throwing_queue, at_every_point_of_shutdown_inside_a_task_loses_no_task) {
    test::at_every_point(users_code, "throwing: a user's queue, close in a task", [](int n) {
        account tasks;
        test::record<std::string> reported;
        test::gate queued;
        {
            spool::thread_pool_executor pool(over_a_fragile_queue(reported));
            pool.execute([&] {
                queued.wait();
                pool.close();
            });
            for (int i = 0; i < 3; ++i) {
                pool.execute(tasks.body());
            }
            tasks.accept(3);
            users_code.arm(n);
            queued.open();
            EXPECT_TRUE(test::eventually([&] { return pool.is_terminated(); }));
        }
        tasks.expect_balance();
        expect_told(tasks, reported);
    });
}

// No worker was ever started: the thread that closes the pool runs the queued tasks.
TEST(throwing_queue, at_every_point_of_closing_without_a_worker_loses_no_task) {
    test::at_every_point(users_code, "throwing: a user's queue, close without a worker", [](int n) {
        account tasks;
        test::record<std::string> reported;
        {
            spool::pool_options options = over_a_fragile_queue(reported);
            for (int i = 0; i < 3; ++i) {
                options.queue->put(tasks.body());
            }
            tasks.accept(3);
            options.thread_factory = [](spool::task, const spool::worker_info&) -> spool::worker_thread {
                throw test::planted("the factory");
            };
            spool::thread_pool_executor pool(std::move(options));
            users_code.arm(n);
        }
        tasks.expect_balance();
        expect_told(tasks, reported);
    });
}

TEST(throwing_queue, at_every_point_of_shutdown_now_hands_all_back_at_the_second_call) {
    test::at_every_point(users_code, "throwing: a user's queue, shutdown_now", [](int n) {
        account tasks;
        test::record<std::string> reported;
        test::busy_workers busy;
        std::vector<spool::task> back;
        {
            spool::thread_pool_executor pool(over_a_fragile_queue(reported));
            const test::open_at_end guard{busy.release_gate()};
            busy.hold(pool);
            for (int i = 0; i < 3; ++i) {
                pool.execute(tasks.body());
            }
            users_code.arm(n);
            tasks.hand_over([&] { back = pool.shutdown_now(); }, 0);
            users_code.disarm();
            if (back.empty()) {
                back = pool.shutdown_now();
            }
        }
        EXPECT_EQ(back.size(), 3U);
        back.clear();
        tasks.expect_balance();
        expect_told(tasks, reported);
    });
}

}  // namespace
