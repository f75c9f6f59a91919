// A user's own kind of queue: it implements four functions, and everything else works with it.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "spool/queue/blocking_queue.hpp"
#include "unit/sync/in_background.hpp"

namespace {

using namespace std::chrono_literals;

// Last in, first out; at most three elements.
template <class T>
class stack final : public spool::blocking_queue<T> {
public:
    [[nodiscard]] std::size_t size() const override {
        const std::lock_guard lock{mutex_};
        return elements_.size();
    }

protected:
    bool try_push(T& x) override {
        const std::lock_guard lock{mutex_};
        if (elements_.size() == 3) {
            return false;
        }
        elements_.push_back(std::move(x));
        return true;
    }
    std::optional<T> try_pop() override {
        const std::lock_guard lock{mutex_};
        if (elements_.empty()) {
            return std::nullopt;
        }
        std::optional<T> top{std::move(elements_.back())};
        elements_.pop_back();
        return top;
    }
    std::vector<T> extract_if(spool::function_ref<bool(const T&)> wanted) override {
        const std::lock_guard lock{mutex_};
        std::vector<T> out;
        std::vector<T> rest;
        for (auto it = elements_.rbegin(); it != elements_.rend(); ++it) {
            (wanted(*it) ? out : rest).push_back(std::move(*it));
        }
        std::reverse(rest.begin(), rest.end());
        elements_ = std::move(rest);
        return out;
    }

private:
    mutable std::mutex mutex_;
    std::vector<T> elements_;
};

TEST(own_queue_kind, its_own_order_is_kept_everywhere) {
    stack<int> queue;
    queue.put(1);
    EXPECT_TRUE(queue.offer(2));
    EXPECT_TRUE(queue.offer_for(3, 1s));
    EXPECT_FALSE(queue.offer(4));
    EXPECT_FALSE(queue.offer_for(4, 1us));
    EXPECT_EQ(queue.take(), 3);
    EXPECT_EQ(queue.poll(), 2);
    EXPECT_EQ(queue.poll_for(1s), 1);
    EXPECT_EQ(queue.poll_for(1us), std::nullopt);
}

TEST(own_queue_kind, capacity_is_unlimited_by_default) {
    stack<int> queue;
    EXPECT_EQ(queue.capacity(), stack<int>::unlimited);
    EXPECT_EQ(queue.remaining_capacity(), stack<int>::unlimited);
}

TEST(own_queue_kind, looking_and_removing_work) {
    stack<int> queue;
    for (int i = 1; i <= 3; ++i) {
        queue.put(int{i});
    }
    int head = 0;
    EXPECT_TRUE(queue.peek([&](int n) { head = n; }));
    EXPECT_EQ(head, 3);
    EXPECT_TRUE(queue.contains([](int n) { return n == 1; }));
    EXPECT_EQ(queue.remove_if([](int n) { return n == 2; }), 1U);
    std::vector<int> out;
    EXPECT_EQ(queue.drain_to(out), 2U);
    EXPECT_EQ(out, (std::vector{3, 1}));
    queue.put(1);
    queue.clear();
    EXPECT_TRUE(queue.empty());
}

TEST(own_queue_kind, takers_and_producers_wait) {
    stack<std::unique_ptr<int>> queue;
    int taken = 0;
    test::in_background taker{[&] { taken = *queue.take(); }};
    ASSERT_TRUE(taker.falls_asleep());
    queue.put(std::make_unique<int>(7));
    ASSERT_TRUE(taker.ends());
    EXPECT_EQ(taken, 7);

    for (int i = 1; i <= 3; ++i) {
        queue.put(std::make_unique<int>(i));
    }
    test::in_background producer{[&] { queue.put(std::make_unique<int>(4)); }};
    ASSERT_TRUE(producer.falls_asleep());
    EXPECT_EQ(*queue.take(), 3);
    ASSERT_TRUE(producer.ends());
    EXPECT_EQ(*queue.take(), 4);
}

TEST(own_queue_kind, waits_are_interrupted_by_the_stop_of_the_task) {
    stack<int> queue;
    test::in_background taker{[&] { static_cast<void>(queue.take()); }};
    ASSERT_TRUE(taker.falls_asleep());
    taker.interrupt();
    ASSERT_TRUE(taker.ends());
    EXPECT_TRUE(taker.was_interrupted());
}

// A kind that throws once: the caller gets the exception, and the next call works.
class failing final : public spool::blocking_queue<int> {
public:
    bool fail = true;
    [[nodiscard]] std::size_t size() const override { return 0; }

protected:
    bool try_push(int&) override { return true; }
    std::optional<int> try_pop() override {
        if (std::exchange(fail, false)) {
            throw std::runtime_error("storage");
        }
        return 1;
    }
    std::vector<int> extract_if(spool::function_ref<bool(const int&)>) override { return {}; }
};

TEST(own_queue_kind, its_exception_reaches_the_caller) {
    failing queue;
    EXPECT_THROW(static_cast<void>(queue.take()), std::runtime_error);
    EXPECT_EQ(queue.take(), 1);
    queue.fail = true;
    EXPECT_THROW(static_cast<void>(queue.take(std::stop_token{})), std::runtime_error);
    EXPECT_EQ(queue.take(std::stop_token{}), 1);
}

// A kind whose size() throws.
class uncountable final : public spool::blocking_queue<int> {
public:
    [[nodiscard]] std::size_t size() const override { throw std::runtime_error("size"); }

protected:
    bool try_push(int& x) override {
        const std::lock_guard lock{mutex_};
        elements_.push_back(x);
        return true;
    }
    std::optional<int> try_pop() override {
        const std::lock_guard lock{mutex_};
        if (elements_.empty()) {
            return std::nullopt;
        }
        const int x = elements_.back();
        elements_.pop_back();
        return x;
    }
    std::vector<int> extract_if(spool::function_ref<bool(const int&)>) override { return {}; }

private:
    std::mutex mutex_;
    std::vector<int> elements_;
};

TEST(own_queue_kind, size_that_throws_costs_no_element) {
    uncountable queue;
    std::atomic<int> sum{0};
    test::in_background first{[&] { sum += queue.take(); }};
    test::in_background second{[&] { sum += queue.take(); }};
    ASSERT_TRUE(first.falls_asleep());
    ASSERT_TRUE(second.falls_asleep());
    queue.put(1);
    queue.put(2);
    ASSERT_TRUE(first.ends());
    ASSERT_TRUE(second.ends());
    EXPECT_EQ(sum, 3);
}

}  // namespace
