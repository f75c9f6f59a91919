// Groups of a thread that is no worker of the pool: it takes part, and leaves nothing behind.
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "group_helpers.hpp"

namespace {

using spool::task_group;
using spool::thread_pool_executor;

// Counts the consumers that are attached to a work-stealing queue.
class counting_queue final : public spool::blocking_queue<spool::task> {
public:
    explicit counting_queue(std::atomic<int>& attached) : attached_(attached) {}
    [[nodiscard]] std::size_t size() const override { return inner_.size(); }
    void attach_consumer() override {
        inner_.attach_consumer();
        ++attached_;
    }
    void detach_consumer() noexcept override {
        inner_.detach_consumer();
        --attached_;
    }
    void detach_consumer_for_now() noexcept override {
        inner_.detach_consumer_for_now();
        --attached_;
    }

protected:
    bool try_push(spool::task& x) override { return inner_.offer(std::move(x)); }
    std::optional<spool::task> try_pop() override { return inner_.poll(); }
    std::vector<spool::task> extract_if(spool::function_ref<bool(const spool::task&)> wanted) override {
        return inner_.take_if(wanted);
    }
    void visit(spool::function_ref<bool(const spool::task&)> visitor) const override {
        inner_.for_each(visitor);
    }

private:
    spool::work_stealing_queue<spool::task> inner_;
    std::atomic<int>& attached_;
};

class group_guest : public testing::TestWithParam<bool> {
protected:
    [[nodiscard]] static spool::pool_options one_worker() {
        return test::of_size(1, GetParam() ? test::stealing() : spool::unbounded_fifo());
    }
};
INSTANTIATE_TEST_SUITE_P(kinds, group_guest, testing::Bool(),
                         [](const auto& instance) { return instance.param ? "stealing" : "fixed"; });

TEST_P(group_guest, runs_the_children_itself_while_all_workers_are_busy) {
    test::gate release;
    thread_pool_executor pool(one_worker());
    const test::open_at_end open{release};
    test::gate held;
    pool.execute([&] {
        held.open();
        release.wait();
    });
    ASSERT_TRUE(held.opens());
    std::vector<std::thread::id> by(20);
    task_group children{pool};
    for (std::thread::id& id : by) {
        children.run([&id] { id = std::this_thread::get_id(); });
    }
    children.wait();
    EXPECT_EQ(std::count(by.begin(), by.end(), std::this_thread::get_id()), 20);
}

TEST_P(group_guest, lets_workers_take_children) {
    thread_pool_executor pool(one_worker());
    test::gate begun;
    task_group children{pool};
    children.run([&] { begun.open(); });
    EXPECT_TRUE(begun.opens());  // this thread does not run it: it has not called wait()
    children.wait();
}

TEST_P(group_guest, never_runs_another_task_in_its_wait) {
    thread_pool_executor pool(one_worker());
    std::atomic<int> strangers_here{0};
    const std::thread::id here = std::this_thread::get_id();
    for (int round = 0; round < 100; ++round) {
        task_group children{pool};
        children.run([] {});
        pool.execute([&] { strangers_here += std::this_thread::get_id() == here ? 1 : 0; });
        children.run([] {});
        children.wait();
    }
    pool.close();
    EXPECT_EQ(strangers_here, 0);
}

TEST_P(group_guest, leaves_what_else_it_submitted_to_the_workers) {
    std::atomic<int> ran{0};
    thread_pool_executor pool(one_worker());
    for (int round = 0; round < 200; ++round) {
        test::gate done;
        {
            task_group children{pool};
            children.run([] {});
            pool.execute([&] {
                ++ran;
                done.open();
            });
            children.wait();
        }
        ASSERT_TRUE(done.opens());
    }
    EXPECT_EQ(ran, 200);
}

TEST_P(group_guest, may_have_several_groups_that_end_in_any_order) {
    thread_pool_executor pool(one_worker());
    std::atomic<int> ran{0};
    auto first = std::make_unique<task_group>(pool);
    auto second = std::make_unique<task_group>(pool);
    first->run([&] { ++ran; });
    second->run([&] { ++ran; });
    first.reset();
    second->run([&] { ++ran; });
    second.reset();
    EXPECT_EQ(ran, 3);
}

TEST_P(group_guest, may_be_one_of_many_pools_at_once) {
    std::vector<std::unique_ptr<thread_pool_executor>> pools;
    std::vector<std::unique_ptr<task_group>> groups;
    std::atomic<int> ran{0};
    for (int i = 0; i < 7; ++i) {
        pools.push_back(std::make_unique<thread_pool_executor>(one_worker()));
        groups.push_back(std::make_unique<task_group>(*pools.back()));
        groups.back()->run([&] { ++ran; });
    }
    for (const auto& group : groups) {
        group->wait();
    }
    EXPECT_EQ(ran, 7);
    groups.clear();
}

TEST_P(group_guest, can_be_a_worker_of_another_pool) {
    thread_pool_executor pool(one_worker());
    thread_pool_executor other(one_worker());
    EXPECT_EQ(test::in_time(other.submit([&] { return test::fib(pool, 12); })), 144);
}

TEST(group_guest_attachment, lasts_from_the_first_fork_until_the_last_group_ends) {
    std::atomic<int> attached{0};
    thread_pool_executor pool(test::of_size(1, std::make_unique<counting_queue>(attached)));
    pool.prestart_all_core_threads();
    ASSERT_TRUE(test::eventually([&] { return attached == 1; }));
    { const task_group unused{pool}; }
    EXPECT_EQ(attached, 1);
    {
        task_group outer{pool};
        outer.run([] {});
        outer.wait();
        const int with_one = attached;
        {
            task_group inner{pool};
            inner.run([] {});
            inner.wait();
            EXPECT_EQ(attached, with_one);
        }
        EXPECT_EQ(attached, with_one);
        EXPECT_EQ(with_one, 2);  // the worker, and this thread
    }
    EXPECT_EQ(attached, 1);
}

}  // namespace
