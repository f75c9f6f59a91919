// Four producers and four takers: no element is lost or comes twice, and each producer's elements
// stay in order.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "race/sync/in_time.hpp"
#include "race/sync/seed.hpp"
#include "spool/queue/linked_blocking_queue.hpp"
#include "support/delays.hpp"

namespace {

using spool::linked_blocking_queue;

struct element {
    int producer = 0;
    int number = 0;
    auto operator<=>(const element&) const = default;
};
using queue_of_elements = linked_blocking_queue<element>;

constexpr int producers = 4;
constexpr int takers = 4;
constexpr int per_producer = 25'000;
constexpr int per_taker = producers * per_producer / takers;

template <class T>
bool add_in_time(linked_blocking_queue<T>& queue, T x) {
    return test::in_time([&] { return queue.offer_for(std::move(x), test::long_delay()); });
}
template <class T>
std::optional<T> take_in_time(linked_blocking_queue<T>& queue) {
    return test::in_time([&] { return queue.poll_for(test::long_delay()); });
}

// What each taker got, in order. A taker whose wait lasts the long delay gets fewer elements.
using harvest = std::vector<std::vector<element>>;

template <class Put, class Take>
harvest exchange(Put put, Take take) {
    harvest taken(takers);
    std::vector<std::jthread> threads;
    for (std::vector<element>& mine : taken) {
        threads.emplace_back([&mine, take] {
            while (mine.size() < per_taker) {
                const std::optional<element> x = take();
                if (!x.has_value()) {
                    return;
                }
                mine.push_back(*x);
            }
        });
    }
    for (int producer = 0; producer < producers; ++producer) {
        threads.emplace_back([producer, put] {
            for (int number = 0; number < per_producer; ++number) {
                if (!put(element{producer, number})) {
                    return;
                }
            }
        });
    }
    threads.clear();  // joins
    return taken;
}

void expect_complete(const harvest& taken) {
    std::vector<element> all;
    for (const std::vector<element>& mine : taken) {
        std::vector<int> last(producers, -1);
        for (const element& x : mine) {
            int& before = last.at(static_cast<std::size_t>(x.producer));
            ASSERT_LT(before, x.number) << "out of order for one taker";
            before = x.number;
        }
        all.insert(all.end(), mine.begin(), mine.end());
    }
    std::sort(all.begin(), all.end());
    EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end()) << "an element came twice";
    EXPECT_EQ(all.size(), static_cast<std::size_t>(producers * per_producer)) << "an element is missing";
}

TEST(blocking_queue_race, small_queue_loses_and_doubles_nothing) {
    queue_of_elements queue{8};
    expect_complete(exchange([&](element x) { return add_in_time(queue, std::move(x)); },
                             [&] { return take_in_time(queue); }));
    EXPECT_TRUE(queue.empty());
}

TEST(blocking_queue_race, queue_of_one_loses_and_doubles_nothing) {
    queue_of_elements queue{1};
    expect_complete(exchange([&](element x) { return add_in_time(queue, std::move(x)); },
                             [&] { return take_in_time(queue); }));
    EXPECT_TRUE(queue.empty());
}

TEST(blocking_queue_race, unbounded_queue_loses_and_doubles_nothing) {
    queue_of_elements queue;
    expect_complete(
        exchange([&](element x) { return queue.offer(std::move(x)); }, [&] { return take_in_time(queue); }));
    EXPECT_TRUE(queue.empty());
}

// One more thread removes elements from the middle.
TEST(blocking_queue_race, removal_in_between_loses_and_doubles_nothing) {
    linked_blocking_queue<std::unique_ptr<int>> queue{8};
    constexpr int count = 20'000;
    std::atomic<int> removed{0};
    std::atomic<bool> done{false};
    std::atomic<int> overfull{0};
    std::vector<int> seen(count, 0);
    {
        test::dice dice{test::new_seed(), 0};
        std::jthread remover{[&] {
            while (!done) {
                const auto digit = static_cast<int>(dice.roll(10));
                removed += static_cast<int>(
                    queue.remove_if([digit](const std::unique_ptr<int>& p) { return *p % 10 == digit; }));
                overfull += queue.size() > 8 ? 1 : 0;
            }
        }};
        std::jthread producer{[&] {
            for (int i = 0; i < count; ++i) {
                if (!add_in_time(queue, std::make_unique<int>(i))) {
                    return;
                }
            }
            static_cast<void>(add_in_time(queue, std::make_unique<int>(-1)));
        }};
        for (;;) {
            const auto x = take_in_time(queue);
            if (!x.has_value() || **x < 0) {
                EXPECT_TRUE(x.has_value()) << "waited in vain";
                break;
            }
            ++seen.at(static_cast<std::size_t>(**x));
        }
        done = true;
    }
    const auto taken = std::count(seen.begin(), seen.end(), 1);
    EXPECT_EQ(taken + removed, count);
    EXPECT_EQ(overfull, 0);
    EXPECT_EQ(std::count_if(seen.begin(), seen.end(), [](int n) { return n > 1; }), 0);
}

}  // namespace
