// A maker on a worker of a pool without deques claims its children, and leaves stale entries in the
// queue. Nothing outside may notice them.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "group_helpers.hpp"
#include "pool/group/claimable_child.hpp"
#include "support/throws.hpp"
#include "support/tracked.hpp"

namespace {

using spool::task_group;
using spool::thread_pool_executor;
using queue_ptr = std::unique_ptr<spool::blocking_queue<spool::task>>;

// Counts the elements that a search of the queue visits.
class watched_queue final : public spool::blocking_queue<spool::task> {
public:
    watched_queue(queue_ptr inner, std::atomic<std::uint64_t>& searched)
        : inner_(std::move(inner)), searched_(searched) {}
    [[nodiscard]] std::size_t size() const override { return inner_->size(); }
    [[nodiscard]] std::size_t capacity() const override { return inner_->capacity(); }

protected:
    bool try_push(spool::task& x) override { return inner_->offer(std::move(x)); }
    std::optional<spool::task> try_pop() override { return inner_->poll(); }
    std::vector<spool::task> extract_if(spool::function_ref<bool(const spool::task&)> wanted) override {
        return inner_->take_if([&](const spool::task& t) {
            ++searched_;
            return wanted(t);
        });
    }

private:
    queue_ptr inner_;
    std::atomic<std::uint64_t>& searched_;
};

struct kind {
    std::string name;
    std::function<queue_ptr()> queue;
    friend void PrintTo(const kind& k, std::ostream* out) { *out << k.name; }
};

class group_claim : public testing::TestWithParam<kind> {
protected:
    // Runs `f` as the only task of a pool of one worker.
    template <class F>
    static void in_pool(thread_pool_executor& pool, F f) {
        test::in_time(pool.submit(std::move(f)));
    }
    static spool::pool_options options() { return test::of_size(1, GetParam().queue()); }
};
INSTANTIATE_TEST_SUITE_P(
    kinds, group_claim,
    testing::Values(
        kind{"linked", [] { return spool::unbounded_fifo(); }},
        kind{"array", [] { return test::bounded(20'000); }},
        kind{"priority", [] { return std::make_unique<spool::priority_blocking_queue<spool::task>>(); }},
        kind{"deque", [] { return std::make_unique<spool::linked_blocking_deque<spool::task>>(); }},
        kind{"delay", [] { return std::make_unique<spool::delay_queue<spool::task>>(); }}),
    [](const auto& instance) { return instance.param.name; });

TEST_P(group_claim, join_looks_at_no_task_of_the_queue) {
    std::atomic<std::uint64_t> searched{0};
    std::atomic<int> ran{0};
    thread_pool_executor pool(
        test::of_size(1, std::make_unique<watched_queue>(GetParam().queue(), searched)));
    in_pool(pool, [&] {
        for (int i = 0; i < 2000; ++i) {
            pool.execute([] {});
        }
        for (int round = 0; round < 10; ++round) {
            task_group children{pool};
            for (int i = 0; i < 20; ++i) {
                children.run([&ran] { ++ran; });
            }
            children.wait();
        }
    });
    EXPECT_EQ(ran, 200);
    EXPECT_EQ(searched, 0U);
}

TEST_P(group_claim, stale_entries_do_not_pile_up_and_cost_each_child_a_constant) {
    std::atomic<std::uint64_t> searched{0};
    std::size_t longest = 0;
    thread_pool_executor pool(
        test::of_size(1, std::make_unique<watched_queue>(GetParam().queue(), searched)));
    in_pool(pool, [&] {
        for (int i = 0; i < 100; ++i) {
            pool.execute([] {});
        }
        for (int round = 0; round < 5000; ++round) {
            task_group children{pool};
            children.run([] {});
            children.wait();
            longest = std::max(longest, pool.queue().size());
        }
    });
    EXPECT_LE(longest, 400U);
    EXPECT_LE(searched, 5000U * 4);
}

TEST_P(group_claim, stale_entries_are_not_counted_and_not_handed_back) {
    std::size_t handed_back = 99;
    thread_pool_executor pool(options());
    in_pool(pool, [&] {
        pool.execute([] {});
        task_group children{pool};
        for (int i = 0; i < 5; ++i) {
            children.run([] {});
        }
        EXPECT_EQ(pool.snapshot().queued, 6U);
        children.wait();
        EXPECT_EQ(pool.queue().size(), 6U);  // the unrelated task, and stale entries
        EXPECT_EQ(pool.snapshot().queued, 1U);
        EXPECT_EQ(pool.snapshot().completed, 5U);
        EXPECT_EQ(pool.task_count(), 7U);
        handed_back = pool.shutdown_now().size();
    });
    EXPECT_EQ(handed_back, 1U);
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_EQ(pool.snapshot().queued, 0U);
    EXPECT_EQ(pool.completed_task_count(), 6U);
}

TEST_P(group_claim, worker_that_polls_a_stale_entry_counts_nothing) {
    thread_pool_executor pool(options());
    in_pool(pool, [&] {
        task_group children{pool};
        for (int i = 0; i < 5; ++i) {
            children.run([] {});
        }
        children.wait();
    });
    in_pool(pool, [] {});
    EXPECT_TRUE(test::eventually([&] { return pool.completed_task_count() == 7; }));
    EXPECT_EQ(pool.snapshot().queued, 0U);
    EXPECT_TRUE(test::ends(pool));
    EXPECT_EQ(pool.completed_task_count(), 7U);
}

TEST_P(group_claim, stale_entries_go_with_purge) {
    thread_pool_executor pool(options());
    in_pool(pool, [&] {
        task_group children{pool};
        children.run([] {});
        children.wait();
        EXPECT_EQ(pool.purge(), 0U);
        EXPECT_EQ(pool.queue().size(), 0U);
        EXPECT_EQ(pool.snapshot().queued, 0U);
    });
}

TEST_P(group_claim, callable_of_a_claimed_child_is_destroyed_before_wait_returns) {
    std::atomic<int> alive{0};
    thread_pool_executor pool(options());
    in_pool(pool, [&] {
        task_group children{pool};
        children.run([held = test::tracked{alive}] {});
        children.wait();
        EXPECT_EQ(pool.queue().size(), 1U);
        EXPECT_EQ(alive, 0);
    });
}

// Another worker has polled the entry before the maker waits. The child ends only when the maker
// sleeps.
TEST_P(group_claim, child_that_another_worker_has_begun_is_left_to_that_worker) {
    std::atomic<int> ran{0};
    thread_pool_executor pool(test::of_size(2, GetParam().queue()));
    std::thread::id where;
    in_pool(pool, [&] {
        const pid_t maker = gettid();
        test::gate begun;
        task_group children{pool};
        children.run([&, maker] {
            if (++ran == 1) {
                where = std::this_thread::get_id();
                begun.open();
                EXPECT_TRUE(test::falls_asleep(maker));
            }
        });
        EXPECT_TRUE(begun.opens());
        children.wait();
        EXPECT_NE(where, std::this_thread::get_id());
    });
    EXPECT_EQ(ran, 1);
    EXPECT_TRUE(test::ends(pool));
    EXPECT_EQ(pool.completed_task_count(), 2U);
}

TEST_P(group_claim, children_that_the_queue_has_dropped_end_the_wait_with_cancelled) {
    std::atomic<int> ran{0};
    thread_pool_executor pool(options());
    std::string what;
    in_pool(pool, [&] {
        task_group children{pool};
        children.run([&ran] { ++ran; });
        children.run([&ran] { ++ran; });
        pool.queue().clear();
        what = test::what_of<spool::cancelled>([&] { children.wait(); });
    });
    EXPECT_TRUE(test::contains(what, "dropped")) << what;
    EXPECT_EQ(ran, 0);
}

// The submitter waits for the place that the stale entry of a claimed child occupies.
TEST(group_claim_bounded, stale_entry_gives_its_place_to_a_submitter_that_waits) {
    test::gate forked;
    std::atomic<bool> ran{false};
    std::atomic<pid_t> submitter_id{0};
    thread_pool_executor pool(test::of_size(1, test::bounded(1)));
    std::thread submitter{[&] {
        EXPECT_TRUE(forked.opens());
        submitter_id = gettid();
        pool.execute([&ran] { ran = true; });
    }};
    test::in_time(pool.submit([&] {
        task_group children{pool};
        children.run([&] {
            // Its task gets into the queue, although this task holds the only worker.
            submitter.join();
            EXPECT_FALSE(ran);
        });
        forked.open();
        EXPECT_TRUE(test::eventually([&] { return submitter_id != 0; }));
        EXPECT_TRUE(test::falls_asleep(submitter_id));
        children.wait();
    }));
    EXPECT_TRUE(test::ends(pool));
    EXPECT_TRUE(ran);
}

// The list of a group, with nodes whose second reference the test holds. A node that the list has
// dropped is freed when the test drops it too.
class group_claim_list : public testing::Test {
protected:
    spool::detail::claimable_child& append() {
        auto* const node = new spool::detail::claimable_child(spool::task{[held = test::tracked{alive_}] {}});
        node->publish(&pool_);
        list_.append(*node, &pool_);
        return *node;
    }
    // Acts as a worker that has polled the entry and destroys it.
    static void end(spool::detail::claimable_child& node) {
        static_cast<void>(node.try_hold());
        node.drop_entry();
    }
    int drain() {
        int n = 0;
        while (spool::detail::claimable_child* const node = list_.pop_front()) {
            node->drop_reference();
            ++n;
        }
        return n;
    }
    alignas(16) int pool_ = 0;
    std::atomic<int> alive_{0};
    spool::detail::child_list list_;
};

TEST_F(group_claim_list, keeps_the_order_of_the_forks) {
    std::vector<spool::detail::claimable_child*> nodes;
    for (int i = 0; i < 10; ++i) {
        nodes.push_back(&append());
    }
    for (spool::detail::claimable_child* const node : nodes) {
        EXPECT_EQ(list_.pop_front(), node);
        node->drop_reference();
        end(*node);
    }
    EXPECT_TRUE(list_.empty());
    EXPECT_EQ(alive_, 0);
}

TEST_F(group_claim_list, does_not_grow_while_its_children_end) {
    spool::detail::claimable_child& oldest = append();  // runs for a long time
    for (int i = 0; i < 1000; ++i) {
        end(append());
    }
    EXPECT_LE(drain(), 4);
    end(oldest);
    EXPECT_EQ(alive_, 0);
}

TEST_F(group_claim_list, shrinks_after_a_burst_by_one_child_or_more_with_each_fork) {
    std::vector<spool::detail::claimable_child*> nodes;
    for (int i = 0; i < 100; ++i) {
        nodes.push_back(&append());
    }
    for (spool::detail::claimable_child* const node : nodes) {
        end(*node);
    }
    for (int i = 0; i < 100; ++i) {
        end(append());
    }
    EXPECT_LE(drain(), 4);
    EXPECT_EQ(alive_, 0);
}

struct seen_hooks : spool::pool_hooks {
    void before_execute(const spool::task_info& t) override {
        before.add(t.id);
        waited.add(t.waited);
    }
    void after_execute(const spool::task_info& t, const std::exception_ptr&) override { after.add(t.id); }
    test::record<spool::task_id> before;
    test::record<spool::task_id> after;
    test::record<std::chrono::nanoseconds> waited;
};

TEST(group_claim_hooks, every_claimed_child_is_shown_once_with_the_time_it_waited) {
    using clock = std::chrono::steady_clock;
    const auto hooks = std::make_shared<seen_hooks>();
    auto options = test::of_size(1);
    options.hooks = hooks;
    options.task_times = true;
    thread_pool_executor pool(std::move(options));
    std::chrono::nanoseconds least{0};
    test::in_time(pool.submit([&] {
        task_group children{pool};
        for (int i = 0; i < 5; ++i) {
            children.run([] {});
        }
        for (const auto forked = clock::now(); least == std::chrono::nanoseconds::zero();) {
            least = clock::now() - forked;  // all children have waited for longer than that
        }
        children.wait();
        EXPECT_EQ(hooks->after.size(), 5U);
    }));
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(hooks->before.size(), 6U);
    EXPECT_EQ(hooks->after.size(), 6U);
    const std::vector<std::chrono::nanoseconds> waited = hooks->waited.all();
    // The first entry belongs to the maker's task.
    EXPECT_GE(*std::min_element(waited.begin() + 1, waited.end()), least);
}

}  // namespace
