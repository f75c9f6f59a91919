// How often a future allocates. A program of its own, because it replaces operator new.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <stop_token>
#include <string>
#include <thread>

#include "spool/detail/task_scope.hpp"
#include "spool/future/future_task.hpp"
#include "spool/sync/this_task.hpp"

namespace {

// Per thread, so that the allocations of other threads are not counted.
constinit thread_local int allocations = 0;
constinit thread_local int releases = 0;

void* counted_allocation(std::size_t size) {
    ++allocations;
    if (void* const p = std::malloc(size == 0 ? 1 : size)) {
        return p;
    }
    throw std::bad_alloc{};
}
void counted_release(void* p) noexcept {
    if (p != nullptr) {
        ++releases;
    }
    std::free(p);
}

}  // namespace

void* operator new(std::size_t size) {
    return counted_allocation(size);
}
void operator delete(void* p) noexcept {
    counted_release(p);
}
void operator delete(void* p, std::size_t) noexcept {
    counted_release(p);
}

namespace {

using spool::future_task;

// The number of allocations of `f()`, which must release all of them.
template <class F>
int allocations_of(F f) {
    allocations = 0;
    releases = 0;
    f();
    EXPECT_EQ(allocations, releases);
    return allocations;
}

}  // namespace

TEST(future_allocations, the_counter_itself_counts) {
    // Calls the functions directly: a compiler may elide a pair of new and delete expressions.
    EXPECT_EQ(allocations_of([] { ::operator delete(::operator new(1)); }), 1);
    EXPECT_EQ(allocations_of([] {}), 0);
}

TEST(future_allocations, a_future_with_its_task_is_one_from_birth_to_end) {
    int seen = 0;
    EXPECT_EQ(allocations_of([&] {
                  auto [handle, work] = future_task<int>{[&seen] { return ++seen; }}.split();
                  const spool::task_scope scope{work};
                  work();
                  seen += handle.get();
              }),
              1);
    EXPECT_EQ(seen, 2);
}

TEST(future_allocations, a_future_task_that_is_run_directly_is_one) {
    EXPECT_EQ(allocations_of([] {
                  future_task<int> t{[] { return 7; }};
                  t.run();
                  static_cast<void>(std::move(t).get());
              }),
              1);
}

TEST(future_allocations, a_large_callable_is_still_one) {
    EXPECT_EQ(allocations_of([] {
                  const char block[1000] = {};
                  auto [handle, work] = future_task<char>{[block] { return block[999]; }}.split();
                  work();
                  EXPECT_EQ(handle.get(), 0);
              }),
              1);
}

TEST(future_allocations, a_priority_adds_none) {
    EXPECT_EQ(allocations_of([] {
                  auto parts = future_task<int>{spool::with_priority(3, [] { return 7; })}.split();
                  parts.work();
              }),
              1);
}

TEST(future_allocations, putting_a_future_task_into_a_task_adds_none) {
    EXPECT_EQ(allocations_of([] {
                  spool::task work{future_task<int>{[] { return 7; }}};
                  work();
              }),
              1);
}

TEST(future_allocations, a_callable_that_asks_for_its_token_adds_one) {
    EXPECT_EQ(allocations_of([] {
                  auto [handle, work] =
                      future_task<bool>{[](std::stop_token stop) { return stop.stop_requested(); }}.split();
                  const spool::task_scope scope{work};
                  work();
                  EXPECT_FALSE(handle.get());
              }),
              2);
}

TEST(future_allocations, asking_whether_to_stop_adds_none) {
    EXPECT_EQ(allocations_of([] {
                  future_task<bool> t{[] { return spool::this_task::stop_requested(); }};
                  t.run();
              }),
              1);
}

TEST(future_allocations, cancelling_and_dropping_add_none) {
    EXPECT_EQ(allocations_of([] {
                  auto parts = future_task<int>{[] { return 7; }}.split();
                  parts.handle.cancel();
              }),
              1);
    EXPECT_EQ(allocations_of([] {
                  auto parts = future_task<int>{[] { return 7; }}.split();
                  parts.work = nullptr;
              }),
              1);
}

TEST(future_allocations, copying_handles_and_waiting_outside_of_a_task_add_none) {
    EXPECT_EQ(allocations_of([] {
                  auto parts = future_task<int>{[] { return 7; }}.split();
                  const spool::future<int> copy = parts.handle;
                  EXPECT_FALSE(copy.wait_for(std::chrono::nanoseconds{1}));
                  parts.work();
                  copy.wait();
              }),
              1);
}
