// A factory that fails.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

#include "unit/pool/conformance/conformance_pool.hpp"

namespace conformance {
namespace {

using spool::thread_pool_executor;

spool::thread_factory one_thread_then_none(std::atomic<int>& asked) {
    return [&asked](spool::task body, const spool::worker_info&) -> spool::worker_thread {
        if (++asked > 1) {
            return {};
        }
        return std::thread{std::move(body)};
    };
}

TEST(thread_pool_executor, TPE_093_one_thread_runs_everything_when_the_factory_gives_no_more) {
    constexpr std::size_t tasks = 100;
    std::atomic<int> asked{0};
    std::vector<std::thread::id> ran_in(tasks);  // one element for each task
    spool::pool_options options = sized<linked_queue>(tasks, tasks, tasks);
    options.thread_factory = one_thread_then_none(asked);
    thread_pool_executor pool{std::move(options)};
    const ended_at_last end{pool};
    for (std::thread::id& mine : ran_in) {
        pool.execute([&mine] { mine = std::this_thread::get_id(); });
    }
    EXPECT_EQ(pool.pool_size(), 1U);
    ASSERT_TRUE(ends(pool));
    EXPECT_NE(ran_in[0], std::thread::id{});
    EXPECT_NE(ran_in[0], std::this_thread::get_id());
    EXPECT_EQ(ran_in, std::vector(tasks, ran_in[0]));
    EXPECT_EQ(asked, static_cast<int>(tasks)) << "each task below the core size asks for a worker";
    EXPECT_EQ(pool.completed_task_count(), tasks);
}

// As in the original, the pool counts only workers that have a thread.
TEST(thread_pool_executor, a_worker_that_got_no_thread_does_not_count_in_the_largest_size) {
    std::atomic<int> asked{0};
    spool::pool_options options = sized(2, 2);
    options.thread_factory = one_thread_then_none(asked);
    thread_pool_executor pool{std::move(options)};
    const ended_at_last end{pool};
    EXPECT_TRUE(pool.prestart_core_thread());
    EXPECT_FALSE(pool.prestart_core_thread());
    EXPECT_EQ(pool.pool_size(), 1U);
    EXPECT_EQ(pool.largest_pool_size(), 1U);
}

}  // namespace
}  // namespace conformance
