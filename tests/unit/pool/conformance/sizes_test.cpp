// How many workers a pool has, and how many it may have.
#include <gtest/gtest.h>

#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

#include "unit/pool/conformance/conformance_pool.hpp"

namespace conformance {
namespace {

using spool::thread_pool_executor;

TEST(thread_pool_executor, TPE_003_prestart_adds_one_core_worker_at_a_time) {
    thread_pool_executor pool{two_to_six<linked_queue>()};
    const ended_at_last end{pool};
    EXPECT_EQ(pool.pool_size(), 0U);
    EXPECT_TRUE(pool.prestart_core_thread());
    EXPECT_EQ(pool.pool_size(), 1U);
    EXPECT_TRUE(pool.prestart_core_thread());
    EXPECT_EQ(pool.pool_size(), 2U);
    EXPECT_FALSE(pool.prestart_core_thread());
    EXPECT_EQ(pool.pool_size(), 2U);

    pool.set_core_size(4);
    EXPECT_TRUE(pool.prestart_core_thread());
    EXPECT_EQ(pool.pool_size(), 3U);
    EXPECT_TRUE(pool.prestart_core_thread());
    EXPECT_EQ(pool.pool_size(), 4U);
    EXPECT_FALSE(pool.prestart_core_thread());
    EXPECT_EQ(pool.pool_size(), 4U);
}

TEST(thread_pool_executor, TPE_004_prestart_all_fills_up_to_the_core_size) {
    thread_pool_executor pool{two_to_six<linked_queue>()};
    const ended_at_last end{pool};
    EXPECT_EQ(pool.pool_size(), 0U);
    EXPECT_EQ(pool.prestart_all_core_threads(), 2U);
    EXPECT_EQ(pool.pool_size(), 2U);
    EXPECT_EQ(pool.prestart_all_core_threads(), 0U);
    EXPECT_EQ(pool.pool_size(), 2U);

    pool.set_core_size(4);
    EXPECT_EQ(pool.prestart_all_core_threads(), 2U);
    EXPECT_EQ(pool.pool_size(), 4U);
}

// The largest size never exceeds the maximum, however often a worker is replaced.
TEST(thread_pool_executor, a_successor_does_not_count_beside_the_worker_that_it_replaces) {
    spool::pool_options options = sized(1, 1);
    options.uncaught = [](const spool::worker_info&, const std::exception_ptr&) {};
    thread_pool_executor pool{std::move(options)};
    const ended_at_last end{pool};
    pool.execute([] { throw std::runtime_error("the worker dies of this"); });
    EXPECT_NO_THROW(pool.submit([] {}).get_for(test::long_delay()));  // the successor runs it
    EXPECT_EQ(pool.largest_pool_size(), 1U);
}

TEST(thread_pool_executor, TPE_016_the_maximum_reads_back_and_goes_up_and_down) {
    thread_pool_executor pool{sized(2, 3)};
    const ended_at_last end{pool};
    EXPECT_EQ(pool.maximum_size(), 3U);
    pool.set_maximum_size(5);
    EXPECT_EQ(pool.maximum_size(), 5U);
    pool.set_maximum_size(4);
    EXPECT_EQ(pool.maximum_size(), 4U);
    EXPECT_EQ(pool.core_size(), 2U);
}

TEST(thread_pool_executor, TPE_060_a_negative_core_size_cannot_be_set) {
    thread_pool_executor pool{sized(1, 2)};
    const ended_at_last end{pool};
    expect_refused([&] { pool.set_core_size(minus_one); }, "core_size " + std::to_string(minus_one));
    EXPECT_EQ(pool.core_size(), 1U);
}

TEST(thread_pool_executor, TPE_061_a_maximum_below_the_core_size_cannot_be_set) {
    thread_pool_executor pool{sized(2, 3)};
    const ended_at_last end{pool};
    expect_refused([&] { pool.set_maximum_size(1); }, "core_size 2, maximum_size 1");
    EXPECT_EQ(pool.maximum_size(), 3U);
}

TEST(thread_pool_executor, TPE_062_a_negative_maximum_cannot_be_set) {
    thread_pool_executor pool{sized(2, 3)};
    const ended_at_last end{pool};
    expect_refused([&] { pool.set_maximum_size(minus_one); }, "maximum_size " + std::to_string(minus_one));
    EXPECT_EQ(pool.maximum_size(), 3U);
}

TEST(thread_pool_executor, TPE_063_core_never_exceeds_maximum_whatever_is_set) {
    thread_pool_executor pool{sized(1, 1)};
    const ended_at_last end{pool};
    for (std::size_t size = 1; size < 5; ++size) {
        pool.set_maximum_size(size);
        pool.set_core_size(size);
        const std::string text = std::to_string(size);
        expect_refused([&] { pool.set_maximum_size(size - 1); },
                       "core_size " + text + ", maximum_size " + std::to_string(size - 1));
        EXPECT_EQ(pool.core_size(), size);
        EXPECT_EQ(pool.maximum_size(), size);
        expect_refused([&] { pool.set_core_size(size + 1); },
                       "core_size " + std::to_string(size + 1) + ", maximum_size " + text);
        EXPECT_EQ(pool.core_size(), size);
        EXPECT_EQ(pool.maximum_size(), size);
    }
}

}  // namespace
}  // namespace conformance
