// Costs that must not grow with the number of workers, or at most linearly. The tests compare CPU
// time, so a busy machine changes little.
#include <ctime>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include <spool/spool.hpp>

#include "pool/deadlock/deadlock_watch.hpp"
#include "support/eventually.hpp"

namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::size_t many = 400;
constexpr bool exact = false;
#else
constexpr std::size_t many = 4000;
constexpr bool exact = true;
#endif

nanoseconds cpu_time_of_this_thread() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return std::chrono::seconds{t.tv_sec} + nanoseconds{t.tv_nsec};
}
nanoseconds cpu_time_of_process() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto of = [](const timeval& t) {
        return std::chrono::seconds{t.tv_sec} + std::chrono::microseconds{t.tv_usec};
    };
    return of(used.ru_utime) + of(used.ru_stime);
}

spool::pool_options with_workers(std::size_t n) {
    return {.name = "many",
            .core_size = n,
            .maximum_size = n,
            .queue = std::make_unique<spool::linked_blocking_queue<spool::task>>(1),
            .thread_factory = spool::worker_thread_factory({.stack_size = exact ? 64U * 1024U : 0U})};
}

/// A pool whose workers all wait for one future, with a task in the queue.
class waiting_workers {
public:
    explicit waiting_workers(std::size_t n) : pool(with_workers(n)) {
        for (std::size_t i = 0; i < n; ++i) {
            pool.execute([this] { static_cast<void>(awaited_.get()); });
        }
        pool.execute([] {});
    }
    ~waiting_workers() { awaited_.run(); }

private:
    spool::future_task<int> awaited_{[] { return 1; }};

public:
    spool::thread_pool_executor pool;
};

TEST(many_workers, that_wait_for_one_future_use_under_a_hundredth_of_a_cpu) {
    waiting_workers waits{many};
    ASSERT_TRUE(test::eventually([] { return spool::deadlock_watch::waiting() == many; }));
    std::this_thread::sleep_for(500ms);  // until the last worker sleeps
    const nanoseconds before = cpu_time_of_process();
    std::this_thread::sleep_for(3s);
    const nanoseconds used = cpu_time_of_process() - before;
    RecordProperty("cpu_microseconds", static_cast<int>(used.count() / 1000));
    if (exact) {
        EXPECT_LT(used, 30ms);
    }
}

nanoseconds cost_of_a_rejection(std::size_t workers) {
    constexpr int rounds = 500;
    waiting_workers waits{workers};
    const nanoseconds before = cpu_time_of_this_thread();
    for (int i = 0; i < rounds; ++i) {
        EXPECT_THROW(waits.pool.execute([] {}), spool::rejected_execution);
    }
    return (cpu_time_of_this_thread() - before) / rounds;
}

TEST(many_workers, do_not_make_a_rejection_cost_more) {
    const nanoseconds with_few = cost_of_a_rejection(40);
    const nanoseconds with_many = cost_of_a_rejection(many);
    RecordProperty("few_ns", static_cast<int>(with_few.count()));
    RecordProperty("many_ns", static_cast<int>(with_many.count()));
    EXPECT_LT(with_many, 5 * with_few);
}

// The least of three measurements, because workers that end meanwhile disturb a measurement.
nanoseconds cost_of_shutdown_now(std::size_t workers) {
    nanoseconds least = nanoseconds::max();
    for (int i = 0; i < 3; ++i) {
        spool::thread_pool_executor pool(with_workers(workers));
        pool.prestart_all_core_threads();
        const nanoseconds before = cpu_time_of_this_thread();
        static_cast<void>(pool.shutdown_now());
        least = std::min(least, cpu_time_of_this_thread() - before);
    }
    return least;
}

TEST(many_workers, make_shutdown_now_cost_more_in_step_with_their_number) {
    constexpr std::size_t times = 8;
    const nanoseconds with_few = cost_of_shutdown_now(many / times);
    const nanoseconds with_many = cost_of_shutdown_now(many);
    RecordProperty("few_ns", static_cast<int>(with_few.count()));
    RecordProperty("many_ns", static_cast<int>(with_many.count()));
    // Linear growth gives a factor of about `times`, quadratic growth `times` squared.
    EXPECT_LT(with_many, 5 * times * with_few);
}

}  // namespace
