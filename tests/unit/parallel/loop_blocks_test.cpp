// How a range is divided: grain, chunks, indices of all types, iterators.
#include <forward_list>
#include <limits>
#include <list>
#include <mutex>
#include <set>

#include <gtest/gtest.h>

#include "parallel_helpers.hpp"

namespace {

using block = std::pair<std::size_t, std::size_t>;

/// The blocks of a loop, in the order of the range.
std::vector<block> blocks_of(std::size_t n, const spool::loop_options& options, bool slow = false) {
    spool::thread_pool_executor pool(test::loop_pool(3, test::stealing_queue()));
    std::mutex mutex;
    std::set<block> blocks;
    const auto body = [&](std::size_t b, std::size_t e) {
        if (slow) {
            test::work_a_little();
        }
        const std::lock_guard lock{mutex};
        blocks.emplace(b, e);
    };
    spool::parallel_for_blocks(pool, 0, n, body, options);
    return {blocks.begin(), blocks.end()};
}

void expect_partition(const std::vector<block>& blocks, std::size_t n) {
    std::size_t end = 0;
    for (const auto& [b, e] : blocks) {
        EXPECT_EQ(b, end);
        EXPECT_LT(b, e);
        end = e;
    }
    EXPECT_EQ(end, n);
}

TEST(loop_blocks, make_up_the_range) {
    for (const std::size_t n : {1U, 2U, 17U, 1000U, 100001U}) {
        expect_partition(blocks_of(n, {}), n);
        expect_partition(blocks_of(n, {}, true), n);
    }
}

TEST(loop_blocks, begin_at_multiples_of_the_grain) {
    for (const std::size_t grain : {2U, 7U, 100U}) {
        const std::vector<block> blocks = blocks_of(1003, {.grain = grain}, true);
        expect_partition(blocks, 1003);
        for (const auto& [b, e] : blocks) {
            EXPECT_EQ(b % grain, 0U);
            EXPECT_TRUE(e % grain == 0 || e == 1003);
        }
    }
}

TEST(loop_blocks, with_a_grain_of_zero_are_as_with_a_grain_of_one) {
    expect_partition(blocks_of(100, {.grain = 0}, true), 100);
    EXPECT_EQ(blocks_of(1, {.grain = 0}), (std::vector<block>{{0, 1}}));
}

TEST(loop_blocks, a_grain_larger_than_the_range_gives_one_block) {
    EXPECT_EQ(blocks_of(10, {.grain = 11}), (std::vector<block>{{0, 10}}));
    EXPECT_EQ(blocks_of(10, {.grain = std::numeric_limits<std::size_t>::max()}),
              (std::vector<block>{{0, 10}}));
}

TEST(loop_blocks, chunks_have_sizes_that_differ_by_one) {
    const std::vector<block> blocks = blocks_of(10, {.chunks = 4});
    EXPECT_EQ(blocks, (std::vector<block>{{0, 3}, {3, 6}, {6, 8}, {8, 10}}));
}

TEST(loop_blocks, more_chunks_than_elements_give_one_block_each) {
    EXPECT_EQ(blocks_of(3, {.chunks = 100}), (std::vector<block>{{0, 1}, {1, 2}, {2, 3}}));
    EXPECT_EQ(blocks_of(3, {.chunks = std::numeric_limits<std::size_t>::max()}).size(), 3U);
}

TEST(loop_blocks, chunks_are_fewer_if_the_grain_asks_for_it) {
    const std::vector<block> blocks = blocks_of(100, {.grain = 30, .chunks = 10});
    expect_partition(blocks, 100);
    EXPECT_EQ(blocks.size(), 3U);
    EXPECT_EQ(blocks_of(20, {.grain = 30, .chunks = 10}).size(), 1U);
}

TEST(loop_indices, a_reversed_range_is_empty) {
    spool::thread_pool_executor pool = spool::work_stealing_pool(2);
    int calls = 0;
    spool::parallel_for(pool, 10, 3, [&](int) { ++calls; });
    spool::parallel_for(pool, 10U, -3, [&](unsigned) { ++calls; });
    spool::parallel_for_blocks(pool, 10, 3, [&](int, int) { ++calls; });
    EXPECT_EQ(calls, 0);
}

TEST(loop_indices, may_be_negative) {
    spool::thread_pool_executor pool = spool::work_stealing_pool(2);
    std::atomic<int> sum{0};
    spool::parallel_for(pool, -5, 3, [&](int i) { sum += i; });
    EXPECT_EQ(sum, -12);
}

TEST(loop_indices, reach_both_ends_of_their_type) {
    spool::thread_pool_executor pool = spool::work_stealing_pool(2);
    std::vector<std::atomic<int>> visits(255);
    spool::parallel_for(pool, std::numeric_limits<signed char>::min(),
                        std::numeric_limits<signed char>::max(),
                        [&](int i) { ++visits[static_cast<std::size_t>(i + 128)]; });
    EXPECT_TRUE(std::all_of(visits.begin(), visits.end(), [](const auto& v) { return v == 1; }));
    using limits = std::numeric_limits<std::int64_t>;
    std::atomic<int> calls{0};
    spool::parallel_for(pool, limits::max() - 3, limits::max(), [&](std::int64_t) { ++calls; });
    spool::parallel_for(pool, limits::min(), limits::min() + 3, [&](std::int64_t) { ++calls; });
    EXPECT_EQ(calls, 6);
}

TEST(loop_indices, a_huge_range_is_divided_without_overflow) {
    spool::thread_pool_executor pool = spool::work_stealing_pool(2);
    using limits = std::numeric_limits<std::int64_t>;
    std::atomic<std::uint64_t> sum{0};
    spool::parallel_for_blocks(pool, limits::min(), limits::max(), [&](std::int64_t b, std::int64_t e) {
        sum += static_cast<std::uint64_t>(e) - static_cast<std::uint64_t>(b);
    });
    EXPECT_EQ(sum, std::numeric_limits<std::uint64_t>::max());
}

TEST(loop_indices, a_negative_index_with_an_unsigned_type_is_refused) {
    spool::thread_pool_executor pool = spool::work_stealing_pool(2);
    EXPECT_THROW(spool::parallel_for(pool, -1, std::size_t{5}, [](std::size_t) {}), std::invalid_argument);
}

TEST(loop_ranges, elements_can_be_changed) {
    spool::thread_pool_executor pool = spool::work_stealing_pool(2);
    std::vector<int> v(1000, 1);
    spool::parallel_for(pool, v, [](int& x) { x += 1; });
    spool::parallel_for(pool, v.begin(), v.end(), [](int& x) { x *= 5; });
    EXPECT_EQ(std::count(v.begin(), v.end(), 10), 1000);
}

TEST(loop_ranges, lists_are_visited_too) {
    spool::thread_pool_executor pool = spool::work_stealing_pool(2);
    std::list<int> two_ways(100, 1);
    std::forward_list<int> one_way(100, 2);
    std::atomic<int> sum{0};
    spool::parallel_for(pool, two_ways, [&](int x) { sum += x; });
    spool::parallel_for(pool, one_way, [&](int x) { sum += x; });
    EXPECT_EQ(sum, 300);
}

TEST(loop_ranges, blocks_can_be_iterators) {
    spool::thread_pool_executor pool = spool::work_stealing_pool(2);
    std::vector<int> v(1000, 1);
    using it = std::vector<int>::iterator;
    spool::parallel_for_blocks(pool, v.begin(), v.end(), [](it b, it e) { std::fill(b, e, 7); },
                               {.grain = 10});
    EXPECT_EQ(std::count(v.begin(), v.end(), 7), 1000);
}

TEST(loop_ranges, the_callable_is_not_copied) {
    spool::thread_pool_executor pool = spool::work_stealing_pool(2);
    struct counter {
        std::atomic<int> calls{0};
        counter() = default;
        counter(const counter&) = delete;
        counter& operator=(const counter&) = delete;
        void operator()(int) { ++calls; }
    } count;
    spool::parallel_for(pool, 0, 50, count);
    EXPECT_EQ(count.calls, 50);
}

}  // namespace
