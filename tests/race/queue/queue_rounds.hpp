// One round of producers, takers and a disturber on a queue. The accounts check that every element
// leaves the queue exactly once, that each taker gets each producer's elements in order, and that
// every element is destroyed.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "race/sync/seed.hpp"
#include "spool/base/error.hpp"
#include "spool/queue/blocking_queue.hpp"
#include "spool/sync/this_task.hpp"
#include "support/eventually.hpp"

namespace test {

inline std::atomic<int> elements_alive{0};

// A move-only element; live elements are counted.
class element {
public:
    element(std::uint32_t producer, std::uint32_t number) noexcept : producer_(producer), number_(number) {
        elements_alive.fetch_add(1, std::memory_order_relaxed);
    }
    element(element&& other) noexcept
        : producer_(other.producer_), number_(std::exchange(other.number_, moved_from)) {
        elements_alive.fetch_add(1, std::memory_order_relaxed);
    }
    element& operator=(element&& other) noexcept {
        producer_ = other.producer_;
        number_ = std::exchange(other.number_, moved_from);
        return *this;
    }
    ~element() { elements_alive.fetch_sub(1, std::memory_order_relaxed); }
    [[nodiscard]] std::uint32_t producer() const { return producer_; }
    [[nodiscard]] std::uint32_t number() const { return number_; }

private:
    static constexpr std::uint32_t moved_from = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t producer_;
    std::uint32_t number_;
};

// How often each element has left the queue.
class accounts {
public:
    accounts(std::size_t producers, std::size_t per_producer)
        : per_producer_(per_producer), seen_(producers * per_producer) {}
    void left(const element& x) {
        if (x.number() >= per_producer_) {
            ++spoilt;
            return;
        }
        seen_[x.producer() * per_producer_ + x.number()].fetch_add(1, std::memory_order_relaxed);
        total_.fetch_add(1);
    }
    [[nodiscard]] std::size_t total() const { return total_.load(); }
    [[nodiscard]] bool all_left() const { return total() >= seen_.size(); }
    [[nodiscard]] std::size_t wrong() const {
        std::size_t count = 0;
        for (const auto& times : seen_) {
            count += times.load() == 1 ? 0 : 1;
        }
        return count;
    }
    std::atomic<std::size_t> spoilt{0};
    std::atomic<std::size_t> out_of_order{0};

private:
    std::size_t per_producer_;
    std::vector<std::atomic<std::uint8_t>> seen_;
    std::atomic<std::size_t> total_{0};
};

// One taker's view: for each producer, the number of the last element seen.
class taker {
public:
    taker(accounts& books, std::size_t producers) : books_(books), last_(producers, -1) {}
    void operator()(const element& x) {
        std::int64_t& before = last_.at(x.producer());
        if (before >= static_cast<std::int64_t>(x.number())) {
            ++books_.out_of_order;
        }
        before = x.number();
        books_.left(x);
    }

private:
    accounts& books_;
    std::vector<std::int64_t> last_;
};

struct round_shape {
    std::uint32_t producers;
    std::uint32_t takers;
    std::uint32_t per_producer = 0;
};

inline void produce(spool::blocking_queue<element>& queue, std::uint32_t producer, std::uint32_t count,
                    dice d) {
    for (std::uint32_t number = 0; number < count; ++number) {
        element x{producer, number};
        switch (d.roll(4)) {
            case 0:
                while (!queue.offer(std::move(x))) {
                    std::this_thread::yield();
                }
                break;
            case 1:
                while (!queue.offer_for(std::move(x), std::chrono::microseconds{d.roll(50)})) {}
                break;
            default: queue.put(std::move(x)); break;
        }
    }
}

inline std::optional<element> take_somehow(spool::blocking_queue<element>& queue, const std::stop_token& end,
                                           dice& d) {
    switch (d.roll(8)) {
        case 0: return queue.poll_for(std::chrono::microseconds{d.roll(50)}, end);
        case 1: {  // stopped at some moment of the wait
            std::stop_source own;
            const std::jthread stopper{[&own] { own.request_stop(); }};
            return queue.take(own.get_token());
        }
        case 2:
        case 3: return queue.take(end);
        default: return queue.poll();
    }
}

inline void consume(spool::blocking_queue<element>& queue, taker take, const std::stop_token& end, dice d) {
    std::uint32_t turns = 0;
    while (!end.stop_requested()) {
        try {
            std::optional<element> x;
            if (turns++ % 64 == 0) {
                x = take_somehow(queue, end, d);
            } else {
                x = queue.poll();
                if (!x.has_value()) {
                    x = queue.poll_for(std::chrono::milliseconds{20}, end);
                }
            }
            if (x.has_value()) {
                take(*x);
            }
        } catch (const spool::interrupted&) {}
    }
}

// Removes, looks and drains at random. `extra` is one more operation of the kind.
template <class Extra>
void disturb(spool::blocking_queue<element>& queue, accounts& books, std::size_t producers,
             const std::stop_token& end, dice d, Extra extra) {
    while (!end.stop_requested()) {
        const std::uint32_t pick = d.roll(7);
        switch (d.roll(6)) {
            case 0: {
                for (const element& x :
                     queue.take_if([pick](const element& e) { return e.number() % 7 == pick; })) {
                    books.left(x);
                }
                break;
            }
            case 1: {
                std::vector<element> drained;
                queue.drain_to(drained, pick);
                taker take{books, producers};
                for (const element& x : drained) {
                    take(x);
                }
                break;
            }
            case 2:
                static_cast<void>(
                    queue.contains([pick](const element& e) { return e.number() == pick * 1000; }));
                break;
            case 3: queue.peek([](const element&) {}); break;
            case 4: {
                std::vector<std::int64_t> last(producers, -1);
                queue.for_each([&](const element& x) {
                    if (std::exchange(last.at(x.producer()), x.number()) >= std::int64_t{x.number()}) {
                        ++books.out_of_order;
                    }
                });
                break;
            }
            default: extra(d); break;
        }
        static_cast<void>(queue.size());
        spool::this_task::sleep_for(std::chrono::microseconds{d.roll(400)});
    }
}

template <class Extra>
void run_round(spool::blocking_queue<element>& queue, const round_shape& shape, std::uint32_t seed,
               Extra extra) {
    accounts books{shape.producers, shape.per_producer};
    std::stop_source end;
    {
        std::vector<std::jthread> threads;
        std::uint32_t stream = 0;
        for (std::uint32_t i = 0; i < shape.takers; ++i) {
            threads.emplace_back([&, d = dice{seed, ++stream}] {
                consume(queue, taker{books, shape.producers}, end.get_token(), d);
            });
        }
        for (std::uint32_t i = 0; i < shape.producers; ++i) {
            threads.emplace_back(
                [&, i, d = dice{seed, ++stream}] { produce(queue, i, shape.per_producer, d); });
        }
        threads.emplace_back([&, d = dice{seed, ++stream}] {
            disturb(queue, books, shape.producers, end.get_token(), d, extra);
        });
        // The round is stuck only if no element leaves the queue for the long delay.
        for (std::size_t before = 0; !books.all_left();) {
            if (!eventually([&] { return books.total() != before; })) {
                break;
            }
            before = books.total();
            spool::this_task::sleep_for(std::chrono::milliseconds{1});
        }
        EXPECT_TRUE(books.all_left()) << books.total() << " of " << shape.producers * shape.per_producer
                                      << " came out, then nothing moved";
        end.request_stop();
        if (!books.all_left()) {
            std::abort();  // producers may wait for ever
        }
    }
    EXPECT_EQ(books.wrong(), 0U);
    EXPECT_EQ(books.spoilt, 0U);
    EXPECT_EQ(books.out_of_order, 0U);
    EXPECT_EQ(queue.size(), 0U);
}

}  // namespace test
