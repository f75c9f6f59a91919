// Memory: a failed allocation changes and loses nothing, waiting allocates nothing, and a burst
// frees its memory again. The program replaces operator new. A thread can make its n-th allocation
// fail.
#include <malloc.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "spool/queue/delay_queue.hpp"
#include "spool/queue/linked_blocking_deque.hpp"
#include "spool/queue/linked_transfer_queue.hpp"
#include "spool/queue/priority_blocking_queue.hpp"
#include "spool/queue/synchronous_queue.hpp"

namespace {

thread_local int allocations_until_failure = 0;  // 0: none fails
thread_local int allocations = 0;
thread_local std::ptrdiff_t bytes_held = 0;

}  // namespace

// Not inlined: GCC would see a free() of memory that it attributes to another operator new, and
// warn.
[[gnu::noinline]] void* operator new(std::size_t size) {
    ++allocations;
    const bool fails = allocations_until_failure > 0 && --allocations_until_failure == 0;
    void* const memory = fails ? nullptr : std::malloc(size == 0 ? 1 : size);
    if (memory == nullptr) {
        throw std::bad_alloc{};
    }
    bytes_held += static_cast<std::ptrdiff_t>(malloc_usable_size(memory));
    return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    bytes_held -= static_cast<std::ptrdiff_t>(malloc_usable_size(memory));
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    operator delete(memory);
}

namespace {

using namespace std::chrono_literals;

// Can only be moved. A moved-from element has lost its number.
class element {
public:
    explicit element(int number) : number_(number) {}
    element(element&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    element& operator=(element&& other) noexcept {
        number_ = std::exchange(other.number_, -1);
        return *this;
    }
    ~element() = default;
    [[nodiscard]] int number() const { return number_; }
    [[nodiscard]] spool::due_time due() const {
        return spool::due_time{} + std::chrono::nanoseconds{number_};
    }
    bool operator<(const element& other) const { return number_ < other.number_; }

private:
    int number_;
};

template <class Queue>
class queue_without_memory : public testing::Test {
protected:
    void fill(int count) {
        for (int i = 0; i < count; ++i) {
            queue_.put(element{i});
        }
    }
    [[nodiscard]] std::vector<int> contents() const {
        std::vector<int> all;
        queue_.for_each([&](const element& x) { all.push_back(x.number()); });
        return all;
    }
    // Calls `f()` with its first allocation failing, then its second, and so on until it succeeds.
    // Returns how often it failed.
    template <class F>
    int fail_at_each(F f) {
        const std::vector<int> before = contents();
        for (int n = 1;; ++n) {
            bool failed = false;
            allocations_until_failure = n;
            try {
                f();
            } catch (const std::bad_alloc&) {
                failed = true;
            }
            allocations_until_failure = 0;
            if (!failed) {
                return n - 1;
            }
            EXPECT_EQ(contents(), before) << "allocation " << n;
            EXPECT_EQ(queue_.size(), before.size());
        }
    }
    Queue queue_;
};
using storing_kinds =
    testing::Types<spool::priority_blocking_queue<element>, spool::delay_queue<element>,
                   spool::linked_transfer_queue<element>, spool::linked_blocking_deque<element>>;
TYPED_TEST_SUITE(queue_without_memory, storing_kinds);

TYPED_TEST(queue_without_memory, element_that_finds_no_memory_stays_with_its_owner) {
    int failures = 0;
    for (int i = 0; i < 100; ++i) {  // a heap grows now and then
        element x{i};
        failures += this->fail_at_each([&] {
            EXPECT_EQ(x.number(), i);
            EXPECT_TRUE(this->queue_.offer(std::move(x)));
        });
    }
    EXPECT_GT(failures, 0);
    EXPECT_EQ(this->queue_.size(), 100U);
}

TYPED_TEST(queue_without_memory, removal_that_finds_no_memory_removes_nothing) {
    this->fill(40);
    std::vector<element> taken;
    const int failures = this->fail_at_each(
        [&] { taken = this->queue_.take_if([](const element& x) { return x.number() % 4 == 0; }); });
    EXPECT_GT(failures, 0);
    ASSERT_EQ(taken.size(), 10U);
    EXPECT_EQ(taken[1].number(), 4);
    EXPECT_EQ(this->queue_.size(), 30U);
}

TYPED_TEST(queue_without_memory, draining_that_finds_no_memory_loses_nothing) {
    this->fill(40);
    std::vector<element> out;
    while (out.size() < 40) {
        allocations_until_failure = 1;  // fails whenever the vector has to grow
        try {
            this->queue_.drain_to(out);
        } catch (const std::bad_alloc&) {}
        allocations_until_failure = 0;
        ASSERT_EQ(out.size() + this->queue_.size(), 40U);
        out.reserve(out.size() + 7);
    }
    for (int i = 0; i < 40; ++i) {
        ASSERT_EQ(out[static_cast<std::size_t>(i)].number(), i);
    }
}

// Even where a heap could shrink.
TYPED_TEST(queue_without_memory, taking_needs_no_memory) {
    this->fill(1000);
    for (int i = 0; i < 1000; ++i) {
        allocations_until_failure = 1;
        const std::optional<element> x = this->queue_.poll();
        allocations_until_failure = 0;
        ASSERT_TRUE(x.has_value());
        ASSERT_EQ(x->number(), i);
    }
}

TYPED_TEST(queue_without_memory, burst_gives_its_memory_back) {
    this->fill(10);
    const std::ptrdiff_t small = bytes_held;
    this->fill(100'000);
    EXPECT_GT(bytes_held, small + 100'000);
    while (this->queue_.size() > 10) {
        static_cast<void>(this->queue_.poll());
    }
    EXPECT_LT(bytes_held, small + 10'000);
    this->fill(100'000);
    this->queue_.remove_if([left = 10](const element&) mutable { return --left < 0; });
    EXPECT_LT(bytes_held, small + 10'000);
}

// ---- Waiting

template <class Queue>
class queue_without_elements : public testing::Test {};
using waiting_kinds =
    testing::Types<spool::synchronous_queue<element>, spool::priority_blocking_queue<element>,
                   spool::delay_queue<element>, spool::linked_transfer_queue<element>,
                   spool::linked_blocking_deque<element>>;
TYPED_TEST_SUITE(queue_without_elements, waiting_kinds);

TYPED_TEST(queue_without_elements, waiting_to_take_allocates_nothing) {
    TypeParam queue;
    std::optional<element> x;
    const int before = allocations;
    static_cast<void>(queue.pop_until(x, {.until = spool::deadline::after(1us)}));
    EXPECT_EQ(allocations, before);
}

TEST(hand_over_without_memory, waiting_to_give_an_element_that_moves_as_bytes_allocates_nothing) {
    spool::synchronous_queue<int> numbers;
    spool::synchronous_queue<spool::task> tasks;
    spool::task work = [] {};
    const std::stop_token none;
    const int before = allocations;
    EXPECT_FALSE(numbers.offer_for(7, 1us, none));
    EXPECT_FALSE(tasks.offer(std::move(work)));
    EXPECT_FALSE(tasks.offer_for(std::move(work), 1us, none));
    EXPECT_EQ(allocations, before);
    EXPECT_FALSE(work.empty());
}

TEST(hand_over_without_memory, element_that_finds_no_memory_stays_with_its_owner) {
    spool::synchronous_queue<element> synchronous;
    spool::linked_transfer_queue<element> transfer;
    element x{7};
    const std::stop_token none;
    allocations_until_failure = 1;
    EXPECT_THROW(static_cast<void>(synchronous.offer_for(std::move(x), 1us, none)), std::bad_alloc);
    allocations_until_failure = 1;
    EXPECT_THROW(static_cast<void>(transfer.try_transfer_for(std::move(x), 1us, none)), std::bad_alloc);
    allocations_until_failure = 0;
    EXPECT_EQ(x.number(), 7);
}

TEST(heap_without_memory, tasks_that_move_as_bytes_share_the_memory_of_the_heap) {
    spool::priority_blocking_queue<spool::task> queue;
    for (int i = 0; i < 100; ++i) {
        queue.put([] {});
    }
    for (int i = 0; i < 10; ++i) {
        static_cast<void>(queue.poll());
    }
    const int before = allocations;
    queue.put([] {});
    EXPECT_EQ(allocations, before);
}

}  // namespace
