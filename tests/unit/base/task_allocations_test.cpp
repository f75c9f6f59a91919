// Allocations of a task: none for up to 40 bytes, one block beyond, none in a move.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <utility>

#include "spool/base/task.hpp"
#include "unit/base/callables.hpp"
#include "unit/base/counted_allocations.hpp"

namespace {

using spool::task;
using test::allocations_of;

template <std::size_t Size>
struct sized {
    void operator()() const {}
    std::array<std::byte, Size> bytes{};
};

TEST(task_allocations, callable_up_to_forty_bytes_is_stored_inline) {
    EXPECT_EQ(allocations_of([] { const task work = sized<1>{}; }), 0U);
    EXPECT_EQ(allocations_of([] { const task work = sized<40>{}; }), 0U);
}

TEST(task_allocations, callable_of_forty_one_bytes_takes_one_block) {
    const std::size_t before = test::deallocations();
    EXPECT_EQ(allocations_of([] { const task work = sized<41>{}; }), 1U);
    EXPECT_EQ(test::deallocations() - before, 1U);
}

TEST(task_allocations, over_aligned_callable_takes_one_block) {
    std::atomic<int> alive{0};
    int calls = 0;
    EXPECT_EQ(allocations_of([&] {
                  task work = test::over_aligned_callable{alive, calls};
                  work();
              }),
              1U);
    EXPECT_EQ(calls, 1);
}

TEST(task_allocations, callable_whose_move_may_throw_takes_one_block) {
    std::atomic<int> alive{0};
    int calls = 0;
    EXPECT_EQ(allocations_of([&] { const task work = test::throwing_move_callable{alive, calls}; }), 1U);
}

TEST(task_allocations, non_trivial_small_callable_is_stored_inline) {
    std::atomic<int> alive{0};
    int calls = 0;
    EXPECT_EQ(allocations_of([&] { const task work = test::inline_callable{alive, calls}; }), 0U);
}

TEST(task_allocations, moving_never_allocates) {
    std::atomic<int> alive{0};
    int calls = 0;
    task tasks[] = {[] {}, test::inline_callable{alive, calls}, test::large_callable{alive, calls},
                    test::over_aligned_callable{alive, calls}, test::throwing_move_callable{alive, calls}};
    for (task& work : tasks) {
        task assigned;
        EXPECT_EQ(allocations_of([&] {
                      task constructed{std::move(work)};
                      assigned = std::move(constructed);
                  }),
                  0U);
        EXPECT_FALSE(assigned.empty());
    }
}

TEST(task_allocations, calling_and_asking_allocate_nothing) {
    task work = spool::with_priority(3, [] {});
    EXPECT_EQ(allocations_of([&] {
                  work();
                  static_cast<void>(work.priority());
                  static_cast<void>(work.due());
                  static_cast<void>(work.id());
              }),
              0U);
}

// Too large for inline storage, and its copy throws: the task must free the block that it
// allocated.
struct throws_when_copied {
    throws_when_copied() = default;
    throws_when_copied(const throws_when_copied&) { throw 1; }
    void operator()() const {}
    std::array<std::byte, 64> bytes{};
};

TEST(task_allocations, callable_that_throws_while_stored_leaks_nothing) {
    const throws_when_copied callable;
    const std::size_t allocated = test::allocations();
    const std::size_t given_back = test::deallocations();
    try {
        const task work{callable};
        ADD_FAILURE() << "the copy throws";
    } catch (int) {}
    EXPECT_EQ(test::allocations() - allocated, test::deallocations() - given_back);
}

}  // namespace
