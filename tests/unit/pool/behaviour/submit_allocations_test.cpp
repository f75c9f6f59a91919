// How often submit() allocates in a pool that has worked before. A program of its own: it replaces
// operator new.
#include <array>
#include <cstddef>
#include <functional>
#include <ostream>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "pool_helpers.hpp"
#include "unit/base/counted_allocations.hpp"

namespace {

constexpr std::size_t tasks = 100;

struct pool_kind {
    std::string name;
    // With one worker, so that each task can count the allocations of all tasks before it.
    std::function<spool::thread_pool_executor()> make;

    friend void PrintTo(const pool_kind& k, std::ostream* out) { *out << k.name; }
};

class submit_allocations : public testing::TestWithParam<pool_kind> {
protected:
    using futures = std::array<spool::future<int>, tasks>;

    // Submits all tasks while the worker is held, then lets them run. Returns how often the
    // submitter has allocated in submit(). `keep` gets each future.
    template <class Keep>
    std::size_t submit_all(Keep keep) {
        test::busy_workers busy;
        const test::open_at_end guard{busy.release_gate()};
        busy.hold(pool);
        EXPECT_TRUE(busy.started());
        const std::size_t made = test::allocations_of([&] {
            for (std::size_t i = 0; i < tasks; ++i) {
                keep(i, pool.submit([i] { return static_cast<int>(i); }));
            }
        });
        busy.release();
        // This task runs last: afterwards no task needs the gate.
        static_cast<void>(allocations_of_worker());
        return made;
    }
    // How often the one worker has allocated so far.
    std::size_t allocations_of_worker() {
        return pool.submit([] { return test::allocations(); }).get_for(test::long_delay());
    }
    // Allocations of a second round, when the first has warmed the pool up: in submit(), and by the
    // worker for all that it ran.
    template <class Keep>
    std::size_t allocations_when_warm(Keep keep) {
        submit_all(keep);
        const std::size_t before = allocations_of_worker();
        const std::size_t made = submit_all(keep);
        return made + allocations_of_worker() - before;
    }

    spool::thread_pool_executor pool = GetParam().make();
};

INSTANTIATE_TEST_SUITE_P(pools, submit_allocations,
                         testing::Values(pool_kind{"fixed", [] { return spool::fixed_thread_pool(1); }},
                                         pool_kind{"stealing", [] { return spool::work_stealing_pool(1); }},
                                         pool_kind{"bounded",
                                                   [] {
                                                       return spool::thread_pool_executor{
                                                           {.core_size = 1,
                                                            .queue = test::bounded(2 * tasks)}};
                                                   }}),
                         [](const auto& p) { return p.param.name; });

}  // namespace

TEST_P(submit_allocations, one_at_most_for_a_task_whose_result_is_collected) {
    futures kept;
    EXPECT_LE(allocations_when_warm([&kept](std::size_t i, spool::future<int> f) { kept[i] = std::move(f); }),
              tasks);
    for (std::size_t i = 0; i < tasks; ++i) {
        EXPECT_EQ(kept[i].get_for(test::long_delay()), static_cast<int>(i));
    }
}

TEST_P(submit_allocations, one_at_most_for_a_task_whose_future_is_dropped) {
    EXPECT_LE(allocations_when_warm([](std::size_t, const spool::future<int>&) {}), tasks);
}
