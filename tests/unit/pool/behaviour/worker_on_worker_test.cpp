// A thread factory may run the workers of one pool as tasks of another pool: one thread is then a
// worker of both.
#include <atomic>
#include <chrono>
#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include <spool/spool.hpp>

#include "support/eventually.hpp"
#include "support/gate.hpp"
#include "unit/pool/behaviour/pool_helpers.hpp"

namespace {

using spool::thread_pool_executor;

/// join() waits until the task that runs the worker has ended.
class hosted_thread final : public spool::worker_thread::handle {
public:
    explicit hosted_thread(std::shared_ptr<test::gate> ended) : ended_(std::move(ended)) {}
    void join() override { ended_->wait(); }
    void detach() override {}

private:
    std::shared_ptr<test::gate> ended_;
};

/// Runs each worker as a task of `host`.
spool::thread_factory hosted_by(thread_pool_executor& host) {
    return [&host](spool::task body, const spool::worker_info&) {
        auto ended = std::make_shared<test::gate>();
        host.execute([body = std::move(body), ended]() mutable {
            body();
            body = nullptr;
            ended->open();
        });
        return spool::worker_thread{std::make_unique<hosted_thread>(ended)};
    };
}

spool::pool_options one_worker(const char* name, std::size_t capacity = 100) {
    return {.name = name,
            .core_size = 1,
            .maximum_size = 1,
            .queue = test::bounded(capacity),
            .rejection = spool::block_policy{}};
}
spool::pool_options one_worker_on(const char* name, thread_pool_executor& host) {
    spool::pool_options options = one_worker(name);
    options.thread_factory = hosted_by(host);
    return options;
}

TEST(worker_on_worker, closes_the_outer_pool_and_runs_what_is_queued_there) {
    std::atomic<bool> ran{false};
    thread_pool_executor outer(one_worker("outer"));
    thread_pool_executor inner(one_worker_on("inner", outer));
    inner
        .submit([&] {
            outer.execute([&] { ran = true; });
            outer.close();
        })
        .get();
    EXPECT_TRUE(ran);
    inner.close();
    EXPECT_TRUE(test::eventually([&] { return outer.is_terminated(); }));
}

TEST(worker_on_worker, closes_the_outermost_of_three_pools) {
    thread_pool_executor outer(one_worker("outer"));
    thread_pool_executor middle(one_worker_on("middle", outer));
    thread_pool_executor inner(one_worker_on("inner", middle));
    inner.submit([&] { outer.close(); }).get();
    inner.close();
    middle.close();
    EXPECT_TRUE(test::eventually([&] { return outer.is_terminated(); }));
}

TEST(worker_on_worker, destroys_the_outer_pool_and_works_on) {
    auto outer = std::make_unique<thread_pool_executor>(one_worker("outer"));
    thread_pool_executor inner(one_worker_on("inner", *outer));
    ASSERT_TRUE(inner.prestart_core_thread());  // so the call on the outer pool has returned
    inner.submit([&] { outer.reset(); }).get();
    EXPECT_EQ(inner.submit([] { return 1; }).get(), 1);
}

TEST(worker_on_worker, runs_a_task_that_the_full_outer_pool_refuses) {
    std::atomic<int> ran{0};
    thread_pool_executor outer(one_worker("outer", 1));
    thread_pool_executor inner(one_worker_on("inner", outer));
    inner
        .submit([&] {
            outer.execute([&] { ++ran; });
            outer.execute([&] { ++ran; });  // no room, and this thread is the only worker
            EXPECT_EQ(ran, 1);
        })
        .get();
    inner.close();
    outer.close();
    EXPECT_EQ(ran, 2);
}

TEST(worker_on_worker, waits_for_a_task_of_the_outer_pool_by_running_it) {
    thread_pool_executor outer(one_worker("outer"));
    thread_pool_executor inner(one_worker_on("inner", outer));
    EXPECT_EQ(inner.submit([&] { return outer.submit([] { return 7; }).get(); }).get(), 7);
    EXPECT_EQ(inner.submit([&] { return inner.submit([] { return 8; }).get(); }).get(), 8);
    inner.close();
}

TEST(worker_on_worker, waits_for_a_group_of_the_outer_pool_by_running_its_children) {
    std::atomic<int> ran{0};
    thread_pool_executor outer(one_worker("outer"));
    thread_pool_executor inner(one_worker_on("inner", outer));
    inner
        .submit([&] {
            spool::task_group group{outer};
            for (int i = 0; i < 10; ++i) {
                group.run([&] { ++ran; });
            }
            group.wait();
        })
        .get();
    EXPECT_EQ(ran, 10);
    inner.close();
}

// The factory runs the new worker on the submitting thread, which is a worker of the same pool.
TEST(worker_on_worker, closes_a_pool_two_of_whose_workers_share_the_thread) {
    std::atomic<bool> closed{false};
    std::atomic<bool> first{true};
    thread_pool_executor pool({.name = "twice",
                               .core_size = 2,
                               .maximum_size = 2,
                               .thread_factory = [&](spool::task body, const spool::worker_info&) {
                                   if (first.exchange(false)) {
                                       return spool::worker_thread{std::thread{std::move(body)}};
                                   }
                                   body();
                                   return spool::worker_thread{};
                               }});
    pool.execute([&] {
        pool.execute([&] {
            pool.close();
            closed = true;
        });
    });
    EXPECT_TRUE(test::eventually([&] { return pool.is_terminated(); }));
    EXPECT_TRUE(closed);
}

}  // namespace
