// A wait with a time limit ends no sooner than its limit, and not much later.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>

#include "spool/queue/linked_blocking_queue.hpp"
#include "spool/sync/event_count.hpp"
#include "support/delays.hpp"
#include "support/eventually.hpp"
#include "unit/sync/parkings.hpp"

namespace {

using spool::deadline;
using spool::wait_result;
using namespace std::chrono_literals;

const std::chrono::nanoseconds durations[] = {1ns, 1us, 100us, 1ms, test::short_delay(), test::small_delay()};

template <class Parking>
class event_count_timing : public test::event_count_test<Parking> {};
TYPED_TEST_SUITE(event_count_timing, test::parkings, test::parking_names);

TYPED_TEST(event_count_timing, await_times_out_no_sooner_than_its_deadline) {
    for (const auto d : durations) {
        const deadline until = deadline::after(d);
        EXPECT_EQ(this->events_.await([] { return false; }, {.until = until}), wait_result::timed_out);
        const auto end = deadline::clock::now();
        EXPECT_GE(end, until.when());
        EXPECT_LT(end, until.when() + test::long_delay());
        EXPECT_EQ(this->events_.waiters(), 0U);
    }
}

// The two phases, called directly. A wait may return spuriously, so the test checks only that it
// ends.
TYPED_TEST(event_count_timing, wait_ends_some_time_after_its_deadline) {
    const auto took = test::time_of([this] {
        const auto key = this->events_.prepare_wait();
        EXPECT_FALSE(this->events_.wait(key, deadline::after(test::short_delay())));
    });
    EXPECT_LT(took, test::long_delay());
}

TEST(queue_timing, poll_for_waits_at_least_its_time) {
    spool::linked_blocking_queue<int> queue;
    for (const auto d : durations) {
        const auto took = test::time_of([&] { EXPECT_EQ(queue.poll_for(d), std::nullopt); });
        EXPECT_GE(took, d);
        EXPECT_LT(took, test::long_delay());
    }
}

TEST(queue_timing, offer_for_waits_at_least_its_time) {
    spool::linked_blocking_queue<int> queue{1};
    queue.put(1);
    for (const auto d : durations) {
        const auto took = test::time_of([&] { EXPECT_FALSE(queue.offer_for(2, d)); });
        EXPECT_GE(took, d);
        EXPECT_LT(took, test::long_delay());
    }
}

TEST(queue_timing, waits_with_a_time_that_is_over_return_at_once) {
    spool::linked_blocking_queue<int> queue{1};
    const auto took = test::time_of([&] {
        EXPECT_EQ(queue.poll_for(0s), std::nullopt);
        EXPECT_EQ(queue.poll_for(std::chrono::hours::min()), std::nullopt);
        queue.put(1);
        EXPECT_FALSE(queue.offer_for(2, 0s));
        EXPECT_FALSE(queue.offer_for(2, std::chrono::hours::min()));
    });
    EXPECT_LT(took, test::medium_delay());
}

}  // namespace
