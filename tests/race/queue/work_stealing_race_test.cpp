// work_stealing_queue under load: no element is lost or comes twice, and each is destroyed once.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "race/sync/in_time.hpp"
#include "race/sync/seed.hpp"
#include "spool/queue/work_stealing_queue.hpp"
#include "support/delays.hpp"

namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int scale = 4;
#else
constexpr int scale = 10;
#endif

// A numbered element; live elements are counted.
class token {
public:
    token(int number, std::atomic<int>& alive) : number_(number), alive_(&alive) { ++*alive_; }
    token(token&& other) noexcept : number_(other.number_), alive_(std::exchange(other.alive_, nullptr)) {}
    token& operator=(token&& other) noexcept {
        std::swap(number_, other.number_);
        std::swap(alive_, other.alive_);
        return *this;
    }
    ~token() {
        if (alive_ != nullptr) {
            --*alive_;
        }
    }
    [[nodiscard]] int number() const { return alive_ != nullptr ? number_ : -1; }

private:
    int number_;
    std::atomic<int>* alive_;
};

using queue_of_tokens = spool::work_stealing_queue<token>;

// Makes the elements, and records ("signs") each one that is taken.
class ledger {
public:
    explicit ledger(int count) : seen_(static_cast<std::size_t>(count)) {}

    [[nodiscard]] bool has_more() const { return made_ < count(); }
    [[nodiscard]] int count() const { return static_cast<int>(seen_.size()); }
    /// Adds the next element to the queue. False: all elements have been made.
    bool put_one(queue_of_tokens& queue) {
        const int number = made_.fetch_add(1);
        if (number >= count()) {
            return false;
        }
        queue.put(token{number, alive_});
        return true;
    }
    void sign(const token& t) {
        ++seen_.at(static_cast<std::size_t>(t.number()));
        ++signed_;
    }
    bool take_one(queue_of_tokens& queue) {
        const std::optional<token> t = queue.poll();
        if (t.has_value()) {
            sign(*t);
        }
        return t.has_value();
    }
    [[nodiscard]] bool all_signed() const { return signed_ >= count(); }
    [[nodiscard]] int missing() const { return count() - signed_; }

    void expect_complete(const queue_of_tokens& queue) const {
        int lost = 0;
        int twice = 0;
        for (const std::atomic<std::uint8_t>& n : seen_) {
            lost += n == 0 ? 1 : 0;
            twice += n > 1 ? 1 : 0;
        }
        EXPECT_EQ(lost, 0) << "elements were lost";
        EXPECT_EQ(twice, 0) << "elements came twice";
        EXPECT_EQ(alive_, 0) << "elements not destroyed once each";
        EXPECT_EQ(queue.size(), 0U);
    }

private:
    std::vector<std::atomic<std::uint8_t>> seen_;
    std::atomic<int> made_{0};
    std::atomic<int> signed_{0};
    std::atomic<int> alive_{0};
};

// Takes elements until all were taken, by any thread. Gives up if none is taken for the long delay.
void take_the_rest(queue_of_tokens& queue, ledger& all) {
    int before = all.missing();
    for (spool::deadline limit = test::time_limit(); !all.all_signed() && !limit.expired();) {
        if (!all.take_one(queue)) {
            std::this_thread::yield();
        }
        if (std::exchange(before, all.missing()) != before) {
            limit = test::time_limit();
        }
    }
}

void run_together(const std::vector<std::function<void()>>& bodies) {
    std::vector<std::jthread> threads;
    for (const auto& body : bodies) {
        threads.emplace_back(body);
    }
}

// The owner's deque has at most one element, so each pop competes with the thieves.
TEST(work_stealing_race, last_element_goes_to_the_owner_or_to_a_thief) {
    const std::uint32_t seed = test::new_seed();
    queue_of_tokens queue;
    ledger all{30'000 * scale};
    const auto owner = [&] {
        test::dice dice{seed, 0};
        queue.attach_consumer();
        while (all.put_one(queue)) {
            if (dice.roll(4) == 0) {
                all.put_one(queue);
            }
            while (dice.roll(8) != 0 && all.take_one(queue)) {}
        }
        queue.detach_consumer();
        take_the_rest(queue, all);
    };
    const auto thief = [&] { take_the_rest(queue, all); };
    const auto attached_thief = [&] {
        queue.attach_consumer();
        take_the_rest(queue, all);
        queue.detach_consumer();
    };
    run_together({owner, thief, attached_thief});
    all.expect_complete(queue);
}

// Bursts that are larger than the ring, repeated on new deques.
TEST(work_stealing_race, ring_grows_while_thieves_are_at_it) {
    const std::uint32_t seed = test::new_seed();
    for (int round = 0; round < 3 * scale; ++round) {
        queue_of_tokens queue;
        ledger all{12'000};
        const auto owner = [&] {
            test::dice dice{seed, static_cast<std::uint32_t>(round)};
            queue.attach_consumer();
            while (all.has_more()) {
                for (std::uint32_t i = dice.roll(3'000); i > 0 && all.put_one(queue); --i) {}
                for (std::uint32_t i = dice.roll(1'000); i > 0 && all.take_one(queue); --i) {}
            }
            take_the_rest(queue, all);
            queue.detach_consumer();
        };
        const auto thief = [&] { take_the_rest(queue, all); };
        run_together({owner, thief, thief});
        all.expect_complete(queue);
        ASSERT_FALSE(HasFailure());
    }
}

// Consumers attach and detach, and leave elements behind each time. Other threads add to the inbox.
TEST(work_stealing_race, consumers_come_and_go_and_lose_nothing) {
    const std::uint32_t seed = test::new_seed();
    queue_of_tokens queue;
    ledger all{30'000 * scale};
    const auto guest = [&](std::uint32_t stream) {
        test::dice dice{seed, stream};
        while (all.has_more()) {
            queue.attach_consumer();
            for (std::uint32_t i = dice.roll(20); i > 0; --i) {
                all.put_one(queue);
            }
            for (std::uint32_t i = dice.roll(20); i > 0; --i) {
                all.take_one(queue);
            }
            queue.detach_consumer();
            if (dice.roll(4) == 0) {
                all.put_one(queue);
            }
        }
        take_the_rest(queue, all);
    };
    run_together(
        {[&] { guest(1); }, [&] { guest(2); }, [&] { guest(3); }, [&] { take_the_rest(queue, all); }});
    all.expect_complete(queue);
}

// One more thread removes elements from the middle, and looks at all: it must never see a torn
// element.
TEST(work_stealing_race, taking_out_of_the_middle_loses_and_doubles_nothing) {
    const std::uint32_t seed = test::new_seed();
    queue_of_tokens queue;
    ledger all{30'000 * scale};
    std::atomic<int> torn{0};
    const auto consumer = [&](std::uint32_t stream) {
        test::dice dice{seed, stream};
        queue.attach_consumer();
        while (all.has_more()) {
            for (std::uint32_t i = dice.roll(dice.roll(20) == 0 ? 600 : 6); i > 0; --i) {
                all.put_one(queue);
            }
            for (std::uint32_t i = dice.roll(6); i > 0; --i) {
                all.take_one(queue);
            }
        }
        take_the_rest(queue, all);
        queue.detach_consumer();
    };
    const auto remover = [&] {
        test::dice dice{seed, 9};
        while (!all.all_signed() && all.has_more()) {
            const int digit = static_cast<int>(dice.roll(10));
            for (const token& t : queue.take_if([&](const token& x) { return x.number() % 10 == digit; })) {
                all.sign(t);
            }
            queue.for_each(
                [&](const token& t) { torn += t.number() < 0 || t.number() >= all.count() ? 1 : 0; });
        }
    };
    run_together({[&] { consumer(1); }, [&] { consumer(2); }, remover});
    all.expect_complete(queue);
    EXPECT_EQ(torn, 0);
}

// One element at a time, from a consumer that adds to a consumer that sleeps: no wake-up is lost.
TEST(work_stealing_race, sleeping_taker_misses_no_element) {
    queue_of_tokens queue;
    queue_of_tokens answers;
    std::atomic<int> alive{0};
    constexpr int rounds = 5'000 * scale;
    std::atomic<int> answered{0};
    std::jthread other{[&] {
        answers.attach_consumer();
        for (int i = 0; i < rounds; ++i) {
            auto x = test::in_time([&] { return queue.poll_for(test::long_delay()); });
            if (!x.has_value() || x->number() != i) {
                break;
            }
            ++answered;
            answers.put(*std::move(x));
        }
        answers.detach_consumer();
    }};
    queue.attach_consumer();
    for (int i = 0; i < rounds; ++i) {
        queue.put(token{i, alive});
        if (!test::in_time([&] { return answers.poll_for(test::long_delay()); }).has_value()) {
            break;
        }
    }
    queue.detach_consumer();
    other.join();
    EXPECT_EQ(answered, rounds);
    EXPECT_EQ(alive, 0);
}

// One thread looks into the deque all the time and takes nothing. The owner must find every element
// that it has put there at once.
TEST(work_stealing_race, what_is_there_is_found_and_counted_whoever_looks) {
    const std::uint32_t seed = test::new_seed();
    queue_of_tokens queue;
    std::atomic<int> alive{0};
    std::atomic<bool> done{false};
    std::jthread looker{[&] {
        while (!done) {
            static_cast<void>(queue.contains([](const token&) { return false; }));
            static_cast<void>(queue.remove_if([](const token&) { return false; }));
        }
    }};
    test::dice dice{seed, 0};
    int missed = 0;
    int miscounted = 0;
    queue.attach_consumer();
    for (int round = 0; round < 10'000 * scale; ++round) {
        const auto count = static_cast<int>(dice.roll(4));
        for (int i = 0; i < count; ++i) {
            queue.put(token{i, alive});
        }
        for (int i = count; i > 0; --i) {
            miscounted += queue.size() != static_cast<std::size_t>(i) ? 1 : 0;
            missed += queue.poll().has_value() ? 0 : 1;
        }
        miscounted += queue.empty() ? 0 : 1;
    }
    queue.detach_consumer();
    done = true;
    looker.join();
    EXPECT_EQ(missed, 0);
    EXPECT_EQ(miscounted, 0);
    EXPECT_EQ(alive, 0);
}

// No thread adds meanwhile, so a thread may find nothing only after everything was taken.
TEST(work_stealing_race, poll_finds_nothing_only_where_nothing_is) {
    std::atomic<int> alive{0};
    std::atomic<int> missed{0};
    for (int round = 0; round < 300 * scale; ++round) {
        queue_of_tokens queue;
        queue.attach_consumer();
        for (int i = 0; i < 200; ++i) {
            queue.put(token{i, alive});
        }
        const auto taker = [&] {
            while (queue.poll().has_value()) {}
            missed += queue.empty() ? 0 : 1;
        };
        {
            const std::jthread thief{taker};
            const std::jthread another{taker};
            taker();
        }
        queue.detach_consumer();
    }
    EXPECT_EQ(missed, 0);
    EXPECT_EQ(alive, 0);
}

// Each element is added after the previous one is gone, so there are never two.
TEST(work_stealing_race, size_is_a_number_that_there_was) {
    queue_of_tokens queue;
    std::atomic<int> alive{0};
    std::atomic<bool> done{false};
    std::atomic<int> wrong{0};
    {
        const std::jthread counter{[&] {
            while (!done) {
                wrong += queue.size() > 1 ? 1 : 0;
            }
        }};
        const std::jthread thief{[&] {
            while (!done) {
                static_cast<void>(queue.poll());
            }
        }};
        queue.attach_consumer();
        for (int i = 0; i < 200 * scale; ++i) {
            queue.put(token{i, alive});
            while (alive != 0) {
                std::this_thread::yield();
            }
        }
        queue.detach_consumer();
        done = true;
    }
    EXPECT_EQ(wrong, 0);
}

}  // namespace
