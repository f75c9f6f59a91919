// The deque of a work_stealing_queue, alone and in tight loops, so that its owner and the thieves
// collide.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "race/sync/seed.hpp"
#include "spool/queue/detail/stealing_deque.hpp"
#include "spool/sync/event_count.hpp"

namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int elements = 100'000;
#else
constexpr int elements = 1'000'000;
#endif

using deque_of_int = spool::detail::stealing_deque<int>;

// Spins for a while before it yields, so that threads begin at the same moment if possible.
void await(const std::atomic<int>& counter, int value) {
    for (int tries = 0; counter < value; ++tries) {
        if (tries > 2'000) {
            std::this_thread::yield();
        }
    }
}

class stealing_deque_race : public testing::Test {
protected:
    // Empties the node and records its element as taken.
    int sign(deque_of_int::node* n) {
        const int number = *n->unpack();
        ++seen_.at(static_cast<std::size_t>(number));
        return number;
    }
    bool steal_one() {
        deque_of_int::node* const n = deque_.try_steal();
        if (n == nullptr) {
            return false;
        }
        sign(n);
        deque_.return_from_thief(n);
        return true;
    }
    bool pop_one() {
        deque_of_int::node* const n = deque_.try_pop();
        if (n == nullptr) {
            return false;
        }
        sign(n);
        deque_.recycle(n);
        return true;
    }
    void expect_each_once() const {
        int lost = 0;
        int twice = 0;
        for (const std::atomic<std::uint8_t>& n : seen_) {
            lost += n == 0 ? 1 : 0;
            twice += n > 1 ? 1 : 0;
        }
        EXPECT_EQ(lost, 0);
        EXPECT_EQ(twice, 0);
    }

    std::vector<std::atomic<std::uint8_t>> seen_ = std::vector<std::atomic<std::uint8_t>>(elements);
    spool::detail::mutex freeze_mutex_;
    deque_of_int deque_{freeze_mutex_};
};

TEST_F(stealing_deque_race, last_element_is_taken_once) {
    const std::uint32_t seed = test::new_seed();
    std::atomic<bool> done{false};
    {
        const std::jthread thief{[&] {
            while (!done) {
                steal_one();
            }
        }};
        test::dice dice{seed, 0};
        for (int next = 0; next < elements; ++next) {
            int number = next;
            deque_.push(number);
            for (std::uint32_t pause = dice.roll(64); pause > 0; --pause) {
                static_cast<void>(deque_.size());
            }
            pop_one();
        }
        while (pop_one()) {}
        done = true;
    }
    expect_each_once();
}

// No thread pushes meanwhile, so a thread may find nothing only after everything was taken.
TEST_F(stealing_deque_race, thief_finds_nothing_only_where_nothing_is) {
    constexpr int per_round = elements / 20;
    std::atomic<int> full{0};
    std::atomic<int> finished{0};
    std::atomic<int> missed{0};
    const auto take_all = [&](auto take_one) {
        for (;;) {
            while (take_one()) {}
            if (deque_.size() == 0) {
                return;
            }
            ++missed;
        }
    };
    const auto thief = [&] {
        for (int round = 1; round <= elements / per_round; ++round) {
            await(full, round);
            take_all([&] { return steal_one(); });
            ++finished;
        }
    };
    {
        const std::jthread one{thief};
        const std::jthread two{thief};
        for (int round = 1; round <= elements / per_round; ++round) {
            for (int number = (round - 1) * per_round; number < round * per_round; ++number) {
                int x = number;
                deque_.push(x);
            }
            full = round;
            if (round % 2 == 0) {
                take_all([&] { return pop_one(); });
            }
            await(finished, 2 * round);
        }
    }
    EXPECT_EQ(missed, 0);
    expect_each_once();
}

// Pair (B) of event_count, without the sleep: the pusher sees the registered waiter, or the waiter
// sees the element.
TEST_F(stealing_deque_race, taker_about_to_sleep_is_seen_or_sees_the_element) {
    constexpr int rounds = elements / 10;
    spool::event_count events;
    std::atomic<int> begun{0};
    std::atomic<int> looked{0};
    std::atomic<int> ended{0};
    int both_blind = 0;
    bool found = false;  // published by `ended`
    {
        const std::jthread taker{[&] {
            for (int round = 1; round <= rounds; ++round) {
                await(begun, round);
                static_cast<void>(events.prepare_wait());
                found = steal_one();
                await(looked, round);
                events.cancel_wait();
                ended = round;
            }
        }};
        for (int round = 1; round <= rounds; ++round) {
            int number = round - 1;
            begun = round;
            deque_.push(number);
            const bool seen = events.waiters() != 0;
            looked = round;
            await(ended, round);
            both_blind += seen || found ? 0 : 1;
            pop_one();
        }
    }
    EXPECT_EQ(both_blind, 0);
}

}  // namespace
