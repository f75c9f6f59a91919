// Memory and work_stealing_queue: in the long run it allocates nothing, and a failed allocation
// changes nothing. The program replaces operator new. A thread can count its allocations, and make
// them fail from the n-th on.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <optional>
#include <semaphore>
#include <thread>
#include <type_traits>
#include <vector>

#include "spool/queue/work_stealing_queue.hpp"

namespace {

struct allocation_plan {
    long made = 0;
    long freed = 0;
    long until_failure = -1;  // negative: none fails
};
constinit thread_local allocation_plan plan;

void* allocate(std::size_t size, std::size_t alignment) {
    if (plan.until_failure == 0) {
        throw std::bad_alloc{};
    }
    plan.until_failure -= plan.until_failure > 0 ? 1 : 0;
    ++plan.made;
    // aligned_alloc requires a multiple of the alignment.
    void* const memory = std::aligned_alloc(alignment, (size + alignment) / alignment * alignment);
    if (memory == nullptr) {
        throw std::bad_alloc{};
    }
    return memory;
}
void release(void* memory) noexcept {
    ++plan.freed;
    std::free(memory);
}

}  // namespace

// Not inlined: GCC would see a free() of memory that it attributes to another operator new, and
// warn.
[[gnu::noinline]] void* operator new(std::size_t size) {
    return allocate(size, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
    return allocate(size, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    release(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    release(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
    release(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    release(memory);
}

namespace {

struct element {  // as large as a task
    int number = 0;
    char rest[52] = {};
};
static_assert(sizeof(spool::detail::stealing_node<element>) == 64);
static_assert(alignof(spool::detail::stealing_node<element>) == 64);
static_assert(sizeof(spool::detail::stealing_node<spool::task>) == 64);
using queue_of_elements = spool::work_stealing_queue<element>;

template <class F>
long allocations_of(F f) {
    const long before = plan.made;
    f();
    return plan.made - before;
}

// Calls `f()` with the n-th allocation and all later ones failing. True if that threw.
template <class F>
bool fails_at(long n, F f) {
    plan.until_failure = n;
    bool failed = false;
    try {
        f();
    } catch (const std::bad_alloc&) {
        failed = true;
    }
    plan.until_failure = -1;
    return failed;
}

std::vector<int> contents(const queue_of_elements& queue) {
    std::vector<int> all;
    queue.for_each([&](const element& e) { all.push_back(e.number); });
    return all;
}

void add_and_take(queue_of_elements& queue, int count) {
    for (int i = 0; i < count; ++i) {
        queue.put(element{i});
    }
    for (int i = 0; i < count; ++i) {
        static_cast<void>(queue.take());
    }
}

TEST(work_stealing_allocation, consumer_that_takes_what_it_added_allocates_nothing_more) {
    queue_of_elements queue;
    queue.attach_consumer();
    add_and_take(queue, 200);
    EXPECT_EQ(allocations_of([&] {
                  for (int round = 0; round < 100; ++round) {
                      add_and_take(queue, 200);
                  }
              }),
              0);
    queue.detach_consumer();
}

TEST(work_stealing_allocation, consumer_that_is_robbed_of_all_allocates_nothing_more) {
    queue_of_elements queue;
    queue.attach_consumer();
    std::binary_semaphore full{0};
    std::binary_semaphore empty{0};
    constexpr int rounds = 50;
    constexpr int per_round = 200;
    std::jthread thief{[&] {
        for (int round = 0; round < rounds; ++round) {
            full.acquire();
            while (queue.poll().has_value()) {}
            empty.release();
        }
    }};
    const auto one_round = [&] {
        for (int i = 0; i < per_round; ++i) {
            queue.put(element{i});
        }
        full.release();
        empty.acquire();
    };
    one_round();
    EXPECT_EQ(allocations_of([&] {
                  for (int round = 1; round < rounds; ++round) {
                      one_round();
                  }
              }),
              0);
    queue.detach_consumer();
}

TEST(work_stealing_allocation, spare_nodes_are_given_back_beyond_a_limit) {
    queue_of_elements queue;
    queue.attach_consumer();
    add_and_take(queue, 10'000);
    const long again = allocations_of([&] { add_and_take(queue, 10'000); });
    EXPECT_GE(again, 9'000);
    queue.detach_consumer();
}

// Adding allocates a node for the element, and now and then a larger ring.
TEST(work_stealing_allocation, failure_while_adding_leaves_element_and_queue_as_they_were) {
    queue_of_elements queue;
    queue.attach_consumer();
    int failures = 0;
    for (int i = 0; i < 2000; ++i) {
        element e{i};
        for (long n = 0; fails_at(n, [&] { queue.put(std::move(e)); }); ++n) {
            ++failures;
            ASSERT_EQ(e.number, i);
            ASSERT_EQ(queue.size(), static_cast<std::size_t>(i));
        }
    }
    EXPECT_GE(failures, 2000 + 3);  // the ring grew three times
    for (int i = 0; i < 2000; ++i) {
        ASSERT_TRUE(queue.poll().has_value());
    }
    EXPECT_TRUE(queue.empty());
    queue.detach_consumer();
}

TEST(work_stealing_allocation, failure_to_attach_leaves_a_thread_that_can_still_add_and_take) {
    queue_of_elements queue;
    for (long n = 0; fails_at(n, [&] { queue.attach_consumer(); }); ++n) {
        ASSERT_LT(n, 10);
        queue.put(element{1});
        EXPECT_EQ(queue.inbox_size(), 1U);
        EXPECT_EQ(queue.take().number, 1);
    }
    queue.put(element{2});
    EXPECT_EQ(queue.inbox_size(), 0U);
    queue.detach_consumer();
}

// `in_inbox` elements are in the inbox and 100 in a deque. The call takes out every second one.
void expect_that_failure_while_taking_out_changes_nothing(int in_inbox) {
    queue_of_elements queue;
    for (int i = 0; i < in_inbox; ++i) {
        queue.put(element{i});
    }
    queue.attach_consumer();
    for (int i = 0; i < 100; ++i) {
        queue.put(element{i});
    }
    const std::vector<int> before = contents(queue);
    std::vector<element> taken;
    long n = 0;
    while (fails_at(n, [&] { taken = queue.take_if([](const element& e) { return e.number % 2 == 0; }); })) {
        ++n;
        ASSERT_EQ(contents(queue), before);
    }
    EXPECT_GE(n, 1);
    EXPECT_EQ(taken.size(), before.size() / 2);
    EXPECT_EQ(queue.size(), before.size() / 2);
    queue.detach_consumer();
}

TEST(work_stealing_allocation, failure_while_taking_out_leaves_everything_as_it_was) {
    expect_that_failure_while_taking_out_changes_nothing(0);
    expect_that_failure_while_taking_out_changes_nothing(300);
}

// A thief that hands back a node first reads how many were handed back. Here it always reads 0, as
// if no thief saw what the others did meanwhile.
struct thieves_who_see_nobody {
    template <class T>
    struct atomic : std::atomic<T> {
        using std::atomic<T>::atomic;
        T load(std::memory_order order = std::memory_order_seq_cst) const noexcept {
            return std::is_same_v<T, std::ptrdiff_t> ? T{} : std::atomic<T>::load(order);
        }
    };
};

TEST(work_stealing_memory, too_many_nodes_that_thieves_handed_back_at_once_are_not_followed_by_more) {
    using nodes = spool::detail::stealing_nodes<int, thieves_who_see_nobody>;
    constexpr int too_many = nodes::max_spares + 10;
    nodes store;
    for (int i = 0; i < too_many; ++i) {
        store.return_from_thief(new nodes::node);
    }
    int x = 1;
    nodes::node* const first = store.make(x);  // now the owner has all of them
    const long freed_before = plan.freed;
    store.recycle(first);
    for (int i = 0; i < 1000; ++i) {
        store.recycle(new nodes::node);
    }
    EXPECT_EQ(plan.freed - freed_before, 1001);
}

}  // namespace
