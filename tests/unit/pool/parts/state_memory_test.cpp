// The memory of futures: from the worker that frees a state to the submitter of the next one.
#include <cstddef>
#include <new>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include <spool/spool.hpp>

#include "pool/pool.hpp"
#include "spool/detail/state_memory.hpp"
#include "support/eventually.hpp"

namespace {

using spool::detail::state_depot;
using spool::detail::state_returns;

constexpr std::size_t size = 96;
constexpr int batch = 32;

class state_memory : public testing::Test {
protected:
    // Frees `n` states of that size on a worker. Returns their addresses.
    std::set<void*> free_states(int n, std::size_t of_size = size) {
        std::set<void*> blocks;
        for (int i = 0; i < n; ++i) {
            blocks.insert(::operator new(of_size));
        }
        for (void* const block : blocks) {
            worker.add(block, of_size);
        }
        return blocks;
    }

    state_depot depot;
    state_returns worker{depot};
};

}  // namespace

TEST_F(state_memory, a_full_batch_serves_the_next_states_of_its_size) {
    std::set<void*> freed = free_states(batch + 1);
    for (int i = 0; i < batch; ++i) {
        void* const block = depot.try_take(size);
        ASSERT_EQ(freed.erase(block), 1U) << i;
        ::operator delete(block, size);
    }
    EXPECT_EQ(depot.try_take(size), nullptr) << "the last block is still the worker's";
    EXPECT_FALSE(worker.empty());
}

TEST_F(state_memory, a_state_of_another_size_gets_no_block_and_ends_what_it_cannot_use) {
    free_states(batch + 1);
    EXPECT_EQ(depot.try_take(size + 8), nullptr);
    EXPECT_TRUE(depot.looks_empty());
}

TEST_F(state_memory, a_batch_holds_one_size) {
    free_states(batch - 1);
    free_states(batch + 1, size + 8);
    void* const block = depot.try_take(size + 8);
    ASSERT_NE(block, nullptr);
    ::operator delete(block, size + 8);
    EXPECT_EQ(depot.try_take(size), nullptr);
}

TEST_F(state_memory, the_depot_is_bounded) {
    free_states(200 * batch + 1);
    int kept = 0;
    while (void* const block = depot.try_take(size)) {
        ::operator delete(block, size);
        ++kept;
    }
    EXPECT_EQ(kept, 128 * batch);
}

TEST_F(state_memory, trim_and_free_all_leave_nothing) {
    free_states(3 * batch);
    depot.trim();
    worker.free_all();
    EXPECT_TRUE(depot.looks_empty());
    EXPECT_TRUE(worker.empty());
    EXPECT_EQ(depot.try_take(size), nullptr);
}

TEST_F(state_memory, the_outer_worker_of_a_thread_comes_back) {
    {
        const state_returns inner{depot};
        EXPECT_EQ(state_returns::current(), &inner);
    }
    EXPECT_EQ(state_returns::current(), &worker);
}

TEST(pool_memory, an_idle_pool_keeps_none_of_the_futures_that_nobody_collected) {
    spool::thread_pool_executor pool({.name = "test", .core_size = 2});
    for (int i = 0; i < 10'000; ++i) {
        static_cast<void>(pool.submit([i] { return i; }));
    }
    EXPECT_TRUE(test::eventually(
        [&] { return pool.snapshot().completed == 10'000 && pool.state_memory()->looks_empty(); }));
}
