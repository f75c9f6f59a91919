// A signal that interrupts the system call does not end a wait.
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <csignal>

#include "spool/sync/this_task.hpp"
#include "support/counting_handler.hpp"
#include "unit/sync/in_background.hpp"
#include "unit/sync/parkings.hpp"

namespace {

using spool::wait_result;

using test::counting_handler;
using test::signals_handled;

// Signals a sleeper several times; the sleeper must handle each signal and sleep on.
void disturb(test::in_background& sleeper) {
    for (int i = 0; i < 5; ++i) {
        ASSERT_TRUE(sleeper.falls_asleep());
        const int before = signals_handled;
        ASSERT_EQ(pthread_kill(sleeper.native_handle(), SIGUSR1), 0);
        ASSERT_TRUE(test::eventually([before] { return signals_handled > before; }));
    }
    ASSERT_TRUE(sleeper.falls_asleep());
    EXPECT_FALSE(sleeper.has_ended());
}

template <class Parking>
class event_count_signal : public test::event_count_test<Parking> {};
TYPED_TEST_SUITE(event_count_signal, test::parkings, test::parking_names);

TYPED_TEST(event_count_signal, signal_does_not_end_a_wait) {
    const counting_handler handler;
    std::atomic<bool> ready{false};
    wait_result answer{};
    test::in_background waiter{
        [&] { answer = this->events_.await([&] { return ready.load(); }, {.until = test::backstop()}); }};
    disturb(waiter);
    EXPECT_EQ(this->events_.waiters(), 1U);
    ready = true;  // N1, pair (S)
    this->events_.notify_one();
    ASSERT_TRUE(waiter.ends());
    EXPECT_EQ(answer, wait_result::ready);
}

TEST(this_task_signal, signal_does_not_end_a_sleep) {
    const counting_handler handler;
    test::in_background sleeper{[] { spool::this_task::sleep_for(std::chrono::hours{1}); }};
    disturb(sleeper);
    sleeper.interrupt();
    ASSERT_TRUE(sleeper.ends());
    EXPECT_TRUE(sleeper.was_interrupted());
}

}  // namespace
