// An idle pool does nothing: measures the CPU time that idle pools of every queue kind use
// together.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include <spool/spool.hpp>

#include "support/eventually.hpp"

namespace {

using namespace std::chrono_literals;
using spool::task;

std::chrono::microseconds cpu_time() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto of = [](const timeval& t) {
        return std::chrono::seconds{t.tv_sec} + std::chrono::microseconds{t.tv_usec};
    };
    return of(used.ru_utime) + of(used.ru_stime);
}

class busy_once {
public:
    template <class Queue, class... Args>
    void add(Args... args) {
        pools_.push_back(std::make_unique<spool::thread_pool_executor>(
            spool::pool_options{.core_size = 2,
                                .maximum_size = 4,
                                .queue = std::make_unique<Queue>(args...),
                                .rejection = spool::block_policy{}}));
        auto& pool = *pools_.back();
        pool.prestart_all_core_threads();
        for (int i = 0; i < 5000; ++i) {  // gives the pool something to clean up
            pool.execute([] {});
        }
    }
    [[nodiscard]] bool all_idle() const {
        for (const auto& pool : pools_) {
            if (pool->snapshot().active != 0 || pool->snapshot().queued != 0) {
                return false;
            }
        }
        return true;
    }

private:
    std::vector<std::unique_ptr<spool::thread_pool_executor>> pools_;
};

TEST(idle_pools, of_every_kind_together_use_under_a_millisecond_of_cpu_time_in_three_seconds) {
    busy_once pools;
    pools.add<spool::linked_blocking_queue<task>>();
    pools.add<spool::array_blocking_queue<task>>(std::size_t{100});
    pools.add<spool::synchronous_queue<task>>();
    pools.add<spool::priority_blocking_queue<task>>();
    pools.add<spool::delay_queue<task>>();
    pools.add<spool::linked_transfer_queue<task>>();
    pools.add<spool::linked_blocking_deque<task>>();
    pools.add<spool::work_stealing_queue<task>>();
    ASSERT_TRUE(test::eventually([&] { return pools.all_idle(); }));
    std::this_thread::sleep_for(500ms);  // until the workers have cleaned up and sleep
    const auto before = cpu_time();
    std::this_thread::sleep_for(3s);
    const auto used = cpu_time() - before;
#if !defined(__SANITIZE_THREAD__) &&                                                                         \
    !defined(__SANITIZE_ADDRESS__)  // a sanitizer's own background thread uses CPU time
    EXPECT_LT(used, 1ms);
#endif
    RecordProperty("cpu_microseconds", static_cast<int>(used.count()));
}

}  // namespace
