// apply(): several settings at once, all or none of them.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "pool_helpers.hpp"
#include "support/eventually.hpp"

namespace {

using namespace std::chrono_literals;

std::unique_ptr<spool::linked_blocking_queue<spool::task>> linked(std::size_t capacity) {
    return std::make_unique<spool::linked_blocking_queue<spool::task>>(capacity);
}

// What the pool refuses; empty: it accepted.
std::optional<spool::invalid_settings> refusal_of(spool::thread_pool_executor& pool,
                                                  const spool::pool_settings& next,
                                                  spool::apply_mode mode = spool::apply_mode::change) {
    try {
        pool.apply(next, mode);
    } catch (const spool::invalid_settings& e) {
        return e;
    }
    return std::nullopt;
}

// Every setting, for a comparison field by field.
struct all_settings {
    explicit all_settings(spool::thread_pool_executor& pool)
        : core(pool.core_size()),
          maximum(pool.maximum_size()),
          keep_alive(pool.keep_alive()),
          core_may_time_out(pool.core_threads_may_time_out()),
          capacity(pool.queue().capacity()),
          rejection(pool.rejection()),
          version(pool.settings_version()) {}
    friend bool operator==(const all_settings&, const all_settings&) = default;

    std::size_t core, maximum;
    std::chrono::nanoseconds keep_alive;
    bool core_may_time_out;
    std::size_t capacity;
    spool::rejection_policy rejection;
    std::uint64_t version;
};

// A user's queue that can be resized, and calls `then` in the middle.
class observed_queue final : public spool::blocking_queue<spool::task> {
public:
    explicit observed_queue(std::size_t capacity) : capacity_(capacity) {}
    [[nodiscard]] std::size_t size() const override {
        const std::lock_guard lock{mutex_};
        return tasks_.size();
    }
    [[nodiscard]] std::size_t capacity() const override { return capacity_; }
    void check_capacity(std::size_t) const override {}
    void set_capacity(std::size_t n) override {
        capacity_ = n;
        if (then) {
            then();
        }
    }
    std::function<void()> then;

private:
    bool try_push(spool::task& x) override {
        const std::lock_guard lock{mutex_};
        if (tasks_.size() >= capacity_) {
            return false;
        }
        tasks_.push_back(std::move(x));
        return true;
    }
    std::optional<spool::task> try_pop() override {
        const std::lock_guard lock{mutex_};
        if (tasks_.empty()) {
            return std::nullopt;
        }
        spool::task head = std::move(tasks_.front());
        tasks_.pop_front();
        return head;
    }
    std::vector<spool::task> extract_if(spool::function_ref<bool(const spool::task&)>) override { return {}; }

    mutable std::mutex mutex_;
    std::deque<spool::task> tasks_;
    std::atomic<std::size_t> capacity_;
};

}  // namespace

TEST(pool_apply, changes_every_field_under_one_version) {
    spool::thread_pool_executor pool({.core_size = 1, .maximum_size = 2, .queue = linked(10)});
    const spool::rejection_policy policy = spool::discard_policy{};
    const spool::settings_change change = pool.apply({.core_size = 3,
                                                      .maximum_size = 5,
                                                      .keep_alive = 7s,
                                                      .core_threads_may_time_out = true,
                                                      .queue_capacity = 20,
                                                      .rejection = policy});
    EXPECT_EQ(pool.core_size(), 3U);
    EXPECT_EQ(pool.maximum_size(), 5U);
    EXPECT_EQ(pool.keep_alive(), 7s);
    EXPECT_TRUE(pool.core_threads_may_time_out());
    EXPECT_EQ(pool.queue().capacity(), 20U);
    EXPECT_EQ(pool.rejection(), policy);
    EXPECT_EQ(change.version, 1U);
    EXPECT_EQ(pool.settings_version(), 1U);
    ASSERT_EQ(change.fields.size(), 6U);
    EXPECT_EQ(change.fields[4], (spool::setting_change{"queue_capacity", "10", "20"}));
}

TEST(pool_apply, every_setter_raises_the_version_once) {
    spool::thread_pool_executor pool({.core_size = 1, .maximum_size = 2});
    pool.set_core_size(2);
    EXPECT_EQ(pool.settings_version(), 1U);
    pool.set_maximum_size(4);
    EXPECT_EQ(pool.settings_version(), 2U);
    pool.set_keep_alive(1s);
    EXPECT_EQ(pool.settings_version(), 3U);
    pool.allow_core_threads_to_time_out(true);
    EXPECT_EQ(pool.settings_version(), 4U);
    pool.set_rejection(spool::discard_policy{});
    EXPECT_EQ(pool.settings_version(), 5U);
}

TEST(pool_apply, a_dry_run_says_what_would_change_and_changes_nothing) {
    spool::thread_pool_executor pool({.core_size = 1, .maximum_size = 2, .queue = linked(10)});
    const all_settings before{pool};
    const spool::settings_change change =
        pool.apply({.maximum_size = 9, .queue_capacity = 20}, spool::apply_mode::dry_run);
    EXPECT_EQ(all_settings{pool}, before);
    EXPECT_EQ(change.version, 0U);
    const std::vector<spool::setting_change> expected{{"maximum_size", "2", "9"},
                                                      {"queue_capacity", "10", "20"}};
    EXPECT_EQ(change.fields, expected);
}

TEST(pool_apply, a_refused_change_alters_no_field_and_names_the_one_to_blame) {
    spool::thread_pool_executor pool(
        {.name = "decode", .core_size = 2, .maximum_size = 4, .queue = linked(10)});
    const all_settings before{pool};
    struct bad {
        spool::pool_settings next;
        const char* field;
        const char* value;
    };
    const spool::pool_settings fine{
        .keep_alive = 3s, .queue_capacity = 20, .rejection = spool::discard_policy{}};
    std::vector<bad> table{{fine, "core_size", "5"},     {fine, "maximum_size", "1"},
                           {fine, "maximum_size", "0"},  {fine, "keep_alive", "-1000000000 ns"},
                           {fine, "rejection", "empty"}, {fine, "queue_capacity", "0"},
                           {fine, "maximum_size", "1"},  {fine, "core_threads_may_time_out", "true"}};
    table[0].next.core_size = 5;
    table[1].next.maximum_size = 1;
    table[2].next.maximum_size = 0;
    table[3].next.keep_alive = -1s;
    table[4].next.rejection = spool::rejection_policy{};
    table[5].next.queue_capacity = 0;
    table[6].next.core_size = 3;  // both are given: the maximum is to blame
    table[6].next.maximum_size = 1;
    table[7].next.keep_alive.reset();
    table[7].next.core_threads_may_time_out = true;
    for (const bad& one : table) {
        if (&one == &table[7]) {
            break;  // below: needs a keep-alive of zero
        }
        for (const auto mode : {spool::apply_mode::change, spool::apply_mode::dry_run}) {
            const auto refusal = refusal_of(pool, one.next, mode);
            ASSERT_TRUE(refusal.has_value()) << one.field;
            EXPECT_EQ(refusal->field(), one.field) << refusal->what();
            EXPECT_EQ(refusal->value(), one.value) << refusal->what();
            EXPECT_EQ(std::string{refusal->what()}.find("thread_pool_executor \"decode\": "), 0U);
            EXPECT_EQ(all_settings{pool}, before) << one.field;
        }
    }
    pool.set_keep_alive(0s);
    const all_settings now{pool};
    const auto refusal = refusal_of(pool, table[7].next);
    ASSERT_TRUE(refusal.has_value());
    EXPECT_EQ(refusal->field(), "core_threads_may_time_out");
    EXPECT_EQ(all_settings{pool}, now);
}

TEST(pool_apply, a_queue_of_fixed_capacity_refuses_by_its_name) {
    spool::thread_pool_executor pool(
        {.name = "p", .core_size = 1, .maximum_size = 2, .queue = test::bounded(100)});
    const auto refusal = refusal_of(pool, {.maximum_size = 8, .queue_capacity = 200});
    ASSERT_TRUE(refusal.has_value());
    EXPECT_EQ(refusal->field(), "queue_capacity");
    const std::string text = refusal->what();
    EXPECT_NE(text.find("queue_capacity cannot become 200"), std::string::npos) << text;
    EXPECT_NE(text.find("array_blocking_queue"), std::string::npos) << text;
    EXPECT_NE(text.find("(100)"), std::string::npos) << text;
    EXPECT_EQ(pool.maximum_size(), 2U);
}

TEST(pool_apply, a_raised_capacity_lets_blocked_submitters_in) {
    test::busy_workers busy;
    spool::thread_pool_executor pool(
        {.core_size = 1, .maximum_size = 1, .queue = linked(1), .rejection = spool::block_policy{}});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    pool.execute([] {});  // fills the queue
    std::atomic<bool> in{false};
    std::thread submitter{[&] {
        pool.execute([] {});
        in = true;
    }};
    pool.apply({.queue_capacity = 2});
    EXPECT_TRUE(test::eventually([&] { return in.load(); }));
    busy.release();
    submitter.join();
    EXPECT_TRUE(test::ends(pool));
}

// The queue is user code: it may call the pool while it is resized, and it may throw.
TEST(pool_apply, is_refused_inside_the_queue_that_it_resizes) {
    auto queue = std::make_unique<observed_queue>(10);
    observed_queue& observed = *queue;
    spool::thread_pool_executor pool({.core_size = 1, .maximum_size = 2, .queue = std::move(queue)});
    std::string inner;
    observed.then = [&] {
        if (const auto refusal = refusal_of(pool, {.queue_capacity = 30})) {
            inner = refusal->what();
        }
        pool.set_core_size(2);  // a change without a capacity is welcome
    };
    pool.apply({.queue_capacity = 20});
    EXPECT_NE(inner.find("the queue itself made this call"), std::string::npos) << inner;
    EXPECT_EQ(pool.queue().capacity(), 20U);
    EXPECT_EQ(pool.core_size(), 2U);
}

TEST(pool_apply, a_change_that_turns_invalid_meanwhile_gives_the_queue_its_capacity_back) {
    auto queue = std::make_unique<observed_queue>(10);
    observed_queue& observed = *queue;
    spool::thread_pool_executor pool({.core_size = 1, .maximum_size = 4, .queue = std::move(queue)});
    observed.then = [&] {
        observed.then = nullptr;
        pool.set_core_size(4);  // now a maximum of 2 is too small
    };
    const auto refusal = refusal_of(pool, {.maximum_size = 2, .queue_capacity = 20});
    ASSERT_TRUE(refusal.has_value());
    EXPECT_EQ(refusal->field(), "maximum_size");
    EXPECT_EQ(pool.queue().capacity(), 10U);
    EXPECT_EQ(pool.maximum_size(), 4U);
}

TEST(pool_apply, a_queue_that_throws_while_it_is_resized_changes_nothing_else) {
    auto queue = std::make_unique<observed_queue>(10);
    queue->then = [] { throw std::bad_alloc{}; };
    spool::thread_pool_executor pool({.core_size = 1, .maximum_size = 4, .queue = std::move(queue)});
    EXPECT_THROW(pool.apply({.maximum_size = 8, .queue_capacity = 20}), std::bad_alloc);
    EXPECT_EQ(pool.maximum_size(), 4U);
    EXPECT_EQ(pool.settings_version(), 0U);
}

TEST(pool_apply, ten_thousand_random_changes_under_load_lose_no_task) {
    constexpr int changes = 10'000;
    std::atomic<std::uint64_t> ran{0};
    std::uint64_t accepted = 0;
    spool::thread_pool_executor pool({.core_size = 2,
                                      .maximum_size = 4,
                                      .keep_alive = 1ms,
                                      .queue = linked(64),
                                      .rejection = spool::block_policy{}});
    std::atomic<bool> done{false};
    std::thread submitter{[&] {
        while (!done) {
            pool.execute([&ran] { ++ran; });
            ++accepted;
        }
    }};
    std::uint32_t seed = 20;
    const auto below = [&seed](std::uint32_t n) {
        seed = seed * 1'664'525U + 1'013'904'223U;
        return (seed >> 16) % n;
    };
    for (int i = 0; i < changes; ++i) {
        const std::size_t core = below(4);
        spool::pool_settings next{.core_size = core, .maximum_size = core + below(3)};
        if (below(2) == 0) {
            next.queue_capacity = below(100);  // 0 is refused
        }
        if (below(4) == 0) {
            next.keep_alive = std::chrono::microseconds{below(2000)};
        }
        if (below(8) == 0) {
            next.core_threads_may_time_out = below(2) == 0;
        }
        if (below(16) == 0) {
            next.rejection = below(2) == 0 ? spool::rejection_policy{spool::caller_runs_policy{}}
                                           : spool::rejection_policy{spool::block_policy{}};
        }
        const all_settings before{pool};
        if (refusal_of(pool, next)) {
            ASSERT_EQ(all_settings{pool}, before);
        }
    }
    done = true;
    pool.apply({.core_size = 2, .maximum_size = 4, .queue_capacity = 64});
    submitter.join();
    EXPECT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, accepted);
}
