// What a fork allocates. A program of its own, because it replaces operator new.
#include <array>
#include <cstddef>

#include <gtest/gtest.h>

#include "group_helpers.hpp"
#include "unit/base/counted_allocations.hpp"

namespace {

// Counts the allocations of the second round, on a worker with a deque of its own. The first round
// has allocated what the pool keeps for reuse.
template <std::size_t Bytes>
std::size_t allocations_of_forks() {
    spool::thread_pool_executor pool(test::of_size(1, test::stealing()));
    return test::in_time(pool.submit([&pool] {
        const auto round = [&pool] {
            spool::task_group children{pool};
            for (std::size_t i = 0; i < 100; ++i) {
                std::array<std::byte, Bytes> data{};
                children.run([data] { static_cast<void>(data); });
            }
            children.wait();
        };
        round();
        return test::allocations_of(round);
    }));
}

TEST(group_allocation, fork_and_join_of_32_bytes_allocate_nothing) {
    EXPECT_EQ(allocations_of_forks<32>(), 0U);
}

TEST(group_allocation, fork_of_33_bytes_allocates_the_callable_alone) {
    EXPECT_EQ(allocations_of_forks<33>(), 100U);
}

}  // namespace
