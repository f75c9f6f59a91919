// fifo_end: when a consumer that has caught up with the tail, or a thread that loses its claims,
// backs off, and when it must not.
#include "spool/queue/detail/fifo_end.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

namespace {

namespace detail = spool::detail;

// Counts instead of waiting. `meanwhile` is what the producers do during the back-off.
struct counted_backoff {
    static inline int times = 0;
    static inline std::function<void()> meanwhile;
    static void yield_briefly() {
        ++times;
        if (meanwhile) {
            meanwhile();
        }
    }
};

struct counted_atomics {
    template <class T>
    using atomic = std::atomic<T>;
    using backoff = counted_backoff;
};

class fifo_end_catching_up : public testing::Test {
protected:
    fifo_end_catching_up() {
        counted_backoff::times = 0;
        counted_backoff::meanwhile = nullptr;
    }

    void produce(std::uint64_t count) {
        detail::fifo_view seen = tail_.load();
        ASSERT_TRUE(tail_.try_claim(seen, count));
    }
    // Looks at the tail, after using up the known elements. Takes all that it finds, and returns
    // how many.
    std::uint64_t look() {
        const std::uint64_t found = head_.catch_up(at_, tail_) - at_;
        at_ += found;
        return found;
    }
    static int stood_back() { return std::exchange(counted_backoff::times, 0); }

private:
    detail::basic_fifo_end<counted_atomics> tail_;
    detail::basic_fifo_end<counted_atomics> head_;
    detail::fifo_position at_ = 0;
};

TEST_F(fifo_end_catching_up, does_not_stand_back_for_the_first_elements) {
    for (int i = 0; i < 64; ++i) {
        produce(1);
        EXPECT_EQ(look(), 1U);
    }
    EXPECT_EQ(stood_back(), 0);
}

TEST_F(fifo_end_catching_up, backs_off_in_a_stream_and_finds_the_elements_added_meanwhile) {
    produce(100);
    EXPECT_EQ(look(), 100U);
    produce(1);
    counted_backoff::meanwhile = [this] { produce(500); };
    EXPECT_EQ(look(), 501U);
    EXPECT_EQ(stood_back(), 1);
}

TEST_F(fifo_end_catching_up, stands_back_in_a_stream_that_is_used_up) {
    produce(100);
    EXPECT_EQ(look(), 100U);
    counted_backoff::meanwhile = [this] { produce(5); };
    EXPECT_EQ(look(), 5U);
    EXPECT_EQ(stood_back(), 1);
}

TEST_F(fifo_end_catching_up, does_not_stand_back_where_enough_is_there) {
    for (int i = 0; i < 100; ++i) {
        produce(32);
        EXPECT_EQ(look(), 32U);
    }
    EXPECT_EQ(stood_back(), 0);
}

TEST_F(fifo_end_catching_up, backs_off_once_and_considers_the_stream_ended_if_few_elements_arrive) {
    produce(100);
    EXPECT_EQ(look(), 100U);
    EXPECT_EQ(look(), 0U);
    EXPECT_EQ(stood_back(), 1);
    for (int i = 0; i < 64; ++i) {
        produce(1);
        EXPECT_EQ(look(), 1U);
    }
    EXPECT_EQ(stood_back(), 0);
}

TEST_F(fifo_end_catching_up, never_backs_off_if_elements_arrive_one_by_one) {
    for (int i = 0; i < 1000; ++i) {
        produce(1);
        EXPECT_EQ(look(), 1U);
        EXPECT_EQ(look(), 0U);
    }
    EXPECT_EQ(stood_back(), 0);
}

// Claims at one end: from a fresh view, or from a stale one because another thread has moved the
// end.
class fifo_end_claiming : public testing::Test {
protected:
    fifo_end_claiming() {
        counted_backoff::times = 0;
        counted_backoff::meanwhile = nullptr;
    }
    // A weak compare-exchange may fail spuriously. That would count as a loss, and the counts below
    // would not hold.
    void win() {
        detail::fifo_view seen = end_.load();
        EXPECT_TRUE(end_.try_claim(seen));
    }
    void lose() {
        detail::fifo_view old{end_.load().word - 2};
        EXPECT_FALSE(end_.try_claim(old));
        EXPECT_EQ(old.word, end_.load().word);
    }

private:
    detail::basic_fifo_end<counted_atomics> end_;
};

TEST_F(fifo_end_claiming, stands_back_where_claims_are_lost_again_and_again) {
    for (int i = 0; i < 7; ++i) {
        lose();
    }
    EXPECT_EQ(counted_backoff::times, 0);
    lose();
    EXPECT_EQ(counted_backoff::times, 1);
    lose();
    EXPECT_EQ(counted_backoff::times, 1) << "it starts anew";
}

TEST_F(fifo_end_claiming, stands_back_where_every_other_claim_is_lost) {
    for (int i = 0; i < 20; ++i) {
        win();
        lose();
    }
    EXPECT_EQ(counted_backoff::times, 1);
}

TEST_F(fifo_end_claiming, never_backs_off_if_every_third_claim_fails) {
    for (int i = 0; i < 1000; ++i) {
        lose();
        win();
        win();
    }
    EXPECT_EQ(counted_backoff::times, 0);
}

}  // namespace
