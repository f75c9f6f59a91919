// After a burst of tasks the library returns the memory to the system within a second, without a
// call.
#include <gtest/gtest.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <chrono>
#include <memory>
#include <string>

#include <spool/spool.hpp>

#include "support/eventually.hpp"
#include "support/gate.hpp"
#include "timing/resident_memory.hpp"

namespace {

using namespace std::chrono_literals;
using test::resident_kilobytes;

constexpr int burst = 2'000'000;

#if defined(__GLIBC__)
std::size_t allocated_kilobytes() {
    const struct mallinfo2 all = ::mallinfo2();
    return (all.uordblks + all.hblkhd) / 1024;
}
#endif

// How much of the growth from `before` to `full` is left, in percent. Returns as soon as at most
// 10 % is left, else after a second.
long percent_left(long before, long full) {
    const auto end = std::chrono::steady_clock::now() + 1s;
    long left = 0;
    do {
        left = (resident_kilobytes() - before) * 100 / (full - before);
        spool::this_task::sleep_for(10ms);
    } while (left > 10 && std::chrono::steady_clock::now() < end);
    return left;
}

TEST(burst_memory, of_a_linked_queue_is_given_back_without_another_call) {
    spool::linked_blocking_queue<spool::task> queue;
    const long before = resident_kilobytes();
    for (int n = 0; n < burst; ++n) {
        queue.put([n] { static_cast<void>(n); });
    }
    const long full = resident_kilobytes();
    ASSERT_GT(full - before, burst / 1024 * 60);
    while (queue.poll().has_value()) {}
    EXPECT_LE(percent_left(before, full), 10);
}

TEST(burst_memory, of_a_pool_is_given_back) {
    test::gate start;
    spool::thread_pool_executor pool({.core_size = 2});
    const long before = resident_kilobytes();
    pool.execute([&] { start.wait(); });
    pool.execute([&] { start.wait(); });
    for (int n = 0; n < burst; ++n) {
        pool.execute([n] { static_cast<void>(n); });
    }
    const long full = resident_kilobytes();
    ASSERT_GT(full - before, burst / 1024 * 60);
    start.open();
    while (pool.completed_task_count() < burst + 2) {
        spool::this_task::sleep_for(1ms);
    }
    EXPECT_LE(percent_left(before, full), 10);
}

TEST(burst_memory, of_a_work_stealing_pool_is_given_back_but_for_a_megabyte) {
    constexpr int some = 400'000;
    test::gate start;
    spool::thread_pool_executor pool(
        {.core_size = 2, .queue = std::make_unique<spool::work_stealing_queue<spool::task>>()});
    const long before = resident_kilobytes();
    pool.execute([&] { start.wait(); });
    pool.execute([&] { start.wait(); });
    for (int n = 0; n < some; ++n) {
        pool.execute([n] { static_cast<void>(n); });
    }
    ASSERT_GT(resident_kilobytes() - before, some / 1024 * 60);
    start.open();
    while (pool.completed_task_count() < some + 2) {
        spool::this_task::sleep_for(1ms);
    }
    EXPECT_TRUE(test::eventually([&] { return resident_kilobytes() - before < 1024; }));
}

#if defined(__GLIBC__)
TEST(burst_memory, of_a_consumers_own_deque_is_given_back_while_it_waits) {
    constexpr int some = 400'000;
    const std::size_t before = allocated_kilobytes();
    const long resident_before = resident_kilobytes();
    spool::work_stealing_queue<spool::task> queue;
    queue.attach_consumer();
    for (int n = 0; n < some; ++n) {
        queue.put([n] { static_cast<void>(n); });
    }
    ASSERT_GT(resident_kilobytes() - resident_before, some / 1024 * 60);
    while (queue.poll().has_value()) {}
    EXPECT_FALSE(queue.poll_for(100ms).has_value());
    EXPECT_LT(allocated_kilobytes(), before + 64);
    ::malloc_trim(0);  // the C library also keeps freed nodes
    EXPECT_LT(resident_kilobytes() - resident_before, 1024);
    queue.put([] {});
    EXPECT_TRUE(queue.poll().has_value());
    queue.detach_consumer();
}
#endif

}  // namespace
