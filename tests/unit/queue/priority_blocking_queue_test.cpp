// priority_blocking_queue: the order in every call that shows it, and the order of equal elements.
#include "spool/queue/priority_blocking_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "support/throws.hpp"
#include "unit/sync/in_background.hpp"

namespace {

using spool::priority_blocking_queue;
using spool::task;

// Ordered by rank. The number tells elements of equal rank apart.
struct ranked {
    int rank = 0;
    int number = 0;
    bool operator<(const ranked& other) const { return rank < other.rank; }
    bool operator==(const ranked&) const = default;
};

template <class Queue>
auto drained(Queue& queue) {
    std::vector<typename Queue::value_type> out;
    queue.drain_to(out);
    return out;
}

TEST(priority_queue_order, least_element_is_taken_first_by_default) {
    priority_blocking_queue<int> queue;
    for (const int n : {3, 1, 2}) {
        EXPECT_TRUE(queue.offer(int{n}));
    }
    EXPECT_EQ(queue.take(), 1);
    EXPECT_EQ(queue.poll(), 2);
    EXPECT_EQ(queue.take(), 3);
    EXPECT_EQ(queue.poll(), std::nullopt);
}

TEST(priority_queue_order, follows_the_comparator_given) {
    priority_blocking_queue<int, std::greater<>> greatest_first{std::vector{3, 1, 2}};
    EXPECT_EQ(drained(greatest_first), (std::vector{3, 2, 1}));
    const auto odd_first = [](int a, int b) { return a % 2 > b % 2; };
    priority_blocking_queue<int, std::function<bool(int, int)>> by_function{odd_first};
    by_function.offer_all(std::vector{2, 4, 1, 6, 3});
    EXPECT_EQ(drained(by_function), (std::vector{1, 3, 2, 4, 6}));
}

TEST(priority_queue_order, comparator_need_not_be_const) {
    struct counting {
        int calls = 0;
        bool operator()(int a, int b) { return ++calls, a < b; }
    };
    priority_blocking_queue<int, counting> queue{std::vector{3, 1, 2}};
    EXPECT_EQ(queue.to_vector(), (std::vector{1, 2, 3}));
}

// Random pushes, pops and removals, compared with a list that is kept in stable order.
TEST(priority_queue_order, agrees_with_a_stably_sorted_list) {
    std::minstd_rand random{12345};
    priority_blocking_queue<ranked> queue;
    std::vector<ranked> model;
    int number = 0;
    for (int step = 0; step < 20'000; ++step) {
        const auto choice = random() % 100;
        if (choice < 55) {
            const ranked x{static_cast<int>(random() % 20), number++};
            queue.put(ranked{x});
            model.insert(std::upper_bound(model.begin(), model.end(), x), x);
        } else if (choice < 97) {
            const std::optional<ranked> x = queue.poll();
            ASSERT_EQ(x.has_value(), !model.empty());
            if (x.has_value()) {
                ASSERT_EQ(*x, model.front());
                model.erase(model.begin());
            }
        } else if (choice < 98) {
            const auto doomed = [n = static_cast<int>(random() % 7)](const ranked& x) {
                return x.number % 7 == n;
            };
            std::vector<ranked> expected;
            std::copy_if(model.begin(), model.end(), std::back_inserter(expected), doomed);
            ASSERT_EQ(queue.take_if(doomed), expected);
            std::erase_if(model, doomed);
        } else {
            ASSERT_EQ(queue.to_vector(), model);
        }
        ASSERT_EQ(queue.size(), model.size());
    }
}

TEST(priority_queue_order, equals_come_out_as_they_came_in) {
    priority_blocking_queue<ranked> queue;
    for (int i = 0; i < 100; ++i) {
        queue.put(ranked{i % 3, i});
    }
    // Rearranges the remaining elements.
    queue.remove_if([](const ranked& x) { return x.number == 50; });
    queue.put(ranked{0, 100});
    const std::vector<ranked> out = drained(queue);
    ASSERT_EQ(out.size(), 100U);
    EXPECT_TRUE(std::is_sorted(out.begin(), out.end(), [](const ranked& a, const ranked& b) {
        return std::pair{a.rank, a.number} < std::pair{b.rank, b.number};
    }));
}

TEST(priority_queue_order, tasks_of_greater_priority_come_first) {
    priority_blocking_queue<task> queue;
    std::vector<int> ran;
    for (const int priority : {1, 5, -2, 5}) {
        const auto number = static_cast<int>(queue.size());
        queue.put(spool::with_priority(priority, [&ran, number] { ran.push_back(number); }));
    }
    queue.put([&ran] { ran.push_back(4); });  // priority 0
    while (std::optional<task> next = queue.poll()) {
        (*next)();
    }
    EXPECT_EQ(ran, (std::vector{1, 3, 0, 4, 2}));
}

TEST(priority_queue_order, task_is_asked_for_its_priority_once) {
    struct counting {
        std::shared_ptr<int> asked;
        void operator()() const {}
        [[nodiscard]] int priority() const { return ++*asked; }
    };
    const auto asked = std::make_shared<int>(0);
    priority_blocking_queue<task> queue;
    for (int i = 0; i < 10; ++i) {
        queue.put(counting{asked});
    }
    queue.for_each([](const task&) {});
    while (queue.poll().has_value()) {}
    EXPECT_EQ(*asked, 10);
}

TEST(priority_queue_order, tasks_follow_a_comparator_of_your_own) {
    const auto younger_first = [](const task& a, const task& b) { return a.id() > b.id(); };
    priority_blocking_queue<task, decltype(younger_first)> queue{younger_first};
    task first = [] {};
    task second = [] {};
    const spool::task_id second_id = second.id();
    queue.put(std::move(first));
    queue.put(std::move(second));
    EXPECT_EQ(queue.take().id(), second_id);
}

// ---- Construction

TEST(priority_queue_construction, range_is_copied_or_moved) {
    const std::vector<int> numbers{3, 1, 2};
    priority_blocking_queue<int> copied{numbers};
    EXPECT_EQ(numbers, (std::vector{3, 1, 2}));
    EXPECT_EQ(drained(copied), (std::vector{1, 2, 3}));
    std::vector<std::unique_ptr<int>> owners;
    owners.push_back(std::make_unique<int>(1));
    const auto by_value = [](const auto& a, const auto& b) { return *a < *b; };
    priority_blocking_queue<std::unique_ptr<int>, decltype(by_value)> moved{std::move(owners), by_value};
    EXPECT_EQ(*moved.take(), 1);
}

TEST(priority_queue_construction, empty_comparator_is_refused) {
    using by_function = priority_blocking_queue<int, std::function<bool(int, int)>>;
    EXPECT_EQ(test::what_of<std::invalid_argument>([] { by_function queue; }),
              "priority_blocking_queue: empty callable");
    using by_pointer = priority_blocking_queue<int, bool (*)(int, int)>;
    EXPECT_THROW(by_pointer{nullptr}, std::invalid_argument);
}

TEST(priority_queue_construction, empty_task_in_the_range_is_refused) {
    std::vector<task> tasks(1);
    EXPECT_THROW(priority_blocking_queue<task>{std::move(tasks)}, std::invalid_argument);
}

// ---- Looking and removing

TEST(priority_queue_looking, every_view_is_in_order) {
    priority_blocking_queue<int> queue{std::vector{5, 3, 4, 1, 2}};
    int head = 0;
    EXPECT_TRUE(queue.peek([&](int n) { head = n; }));
    EXPECT_EQ(head, 1);
    EXPECT_EQ(queue.to_vector(), (std::vector{1, 2, 3, 4, 5}));
    std::vector<int> asked;
    EXPECT_TRUE(queue.contains([&](int n) { return asked.push_back(n), n == 3; }));
    EXPECT_EQ(asked, (std::vector{1, 2, 3}));
    EXPECT_EQ(queue.size(), 5U);
    EXPECT_EQ(queue.capacity(), queue.unlimited);
}

TEST(priority_queue_looking, peek_compares_nothing) {
    int calls = 0;
    const auto counting = [&calls](int a, int b) { return ++calls, a < b; };
    priority_blocking_queue<int, decltype(counting)> queue{std::vector{5, 3, 4, 1, 2}, counting};
    calls = 0;
    EXPECT_TRUE(queue.peek([](int) {}));
    EXPECT_EQ(calls, 0);
}

TEST(priority_queue_looking, removal_keeps_the_rest_in_order) {
    priority_blocking_queue<int> queue;
    for (int i = 0; i < 100; ++i) {
        queue.put(int{i * 37 % 100});
    }
    std::vector<int> asked;
    const std::vector<int> even = queue.take_if([&](int n) { return asked.push_back(n), n % 2 == 0; });
    EXPECT_TRUE(std::is_sorted(asked.begin(), asked.end()));
    EXPECT_EQ(even.size(), 50U);
    EXPECT_TRUE(std::is_sorted(even.begin(), even.end()));
    queue.put(0);
    const std::vector<int> rest = drained(queue);
    EXPECT_EQ(rest.size(), 51U);
    EXPECT_TRUE(std::is_sorted(rest.begin(), rest.end()));
}

// ---- Waiting

TEST(priority_queue_waiting, taker_is_woken_by_an_element) {
    priority_blocking_queue<int> queue;
    int taken = 0;
    test::in_background taker{[&] { taken = queue.take(); }};
    ASSERT_TRUE(taker.falls_asleep());
    queue.put(7);
    ASSERT_TRUE(taker.ends());
    EXPECT_EQ(taken, 7);
}

TEST(priority_queue_waiting, stop_ends_the_wait) {
    priority_blocking_queue<int> queue;
    test::in_background taker{[&] { static_cast<void>(queue.take()); }};
    taker.interrupt();
    ASSERT_TRUE(taker.ends());
    EXPECT_TRUE(taker.was_interrupted());
}

}  // namespace
