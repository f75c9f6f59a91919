// Callables that call their pool when they are moved or destroyed: a pool runs no user code under a
// lock of its own.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "queue_kinds.hpp"
#include "spool/spool.hpp"
#include "support/gate.hpp"

namespace {

/// Calls a function whenever it is moved, run or destroyed.
class gauge {
public:
    explicit gauge(const std::function<void()>& act) : act_(&act) {}
    gauge(gauge&& other) noexcept : act_(other.act_) { (*act_)(); }
    gauge& operator=(gauge&&) = delete;
    ~gauge() { (*act_)(); }
    void operator()() const { (*act_)(); }

private:
    const std::function<void()>* act_;
};
static_assert(spool::detail::fits_inline<gauge>, "the moves of a task are to be those of the callable");

/// Makes the calls on a pool that take a lock.
std::function<void()> look_at(std::atomic<spool::thread_pool_executor*>& pool) {
    return [&pool] {
        if (spool::thread_pool_executor* const p = pool) {
            static_cast<void>(p->queue().size());
            static_cast<void>(p->describe());
            p->queue().wake_consumers();
        }
    };
}

class hostile_callable : public testing::TestWithParam<test::queue_kind> {};
INSTANTIATE_TEST_SUITE_P(kinds, hostile_callable, testing::ValuesIn(test::queue_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(hostile_callable, may_call_the_pool_while_it_is_moved_and_destroyed) {
    std::atomic<spool::thread_pool_executor*> current{nullptr};
    const std::function<void()> act = look_at(current);
    spool::thread_pool_executor pool({.core_size = 1,
                                      .maximum_size = 2,
                                      .queue = GetParam().make(),
                                      .rejection = spool::caller_runs_policy{}});
    current = &pool;
    for (int i = 0; i < 50; ++i) {
        pool.execute(gauge{act});
        static_cast<void>(pool.submit(gauge{act}));
    }
    pool.submit(gauge{act}).get();
    pool.purge();
    pool.close();
    current = nullptr;
}

TEST_P(hostile_callable, may_call_the_pool_while_shutdown_now_takes_it_out) {
    std::atomic<spool::thread_pool_executor*> current{nullptr};
    const std::function<void()> act = look_at(current);
    test::gate done;
    spool::thread_pool_executor pool({.core_size = 1,
                                      .maximum_size = 1,
                                      .queue = GetParam().make(),
                                      .rejection = spool::discard_policy{}});
    current = &pool;
    const test::open_at_end opens{done};
    pool.execute([&] { done.wait(); });
    for (int i = 0; i < 20; ++i) {
        pool.execute(gauge{act});
    }
    const std::vector<spool::task> back = pool.shutdown_now();
    EXPECT_EQ(back.size(), GetParam().stores ? 20U : 0U);
    done.open();
    pool.close();
    current = nullptr;
}

TEST(hostile_first_task, may_call_the_pool_while_its_worker_fails_to_start) {
    std::atomic<spool::thread_pool_executor*> current{nullptr};
    const std::function<void()> act = look_at(current);
    spool::thread_pool_executor pool(
        {.core_size = 2,
         .thread_factory = [](spool::task, const spool::worker_info&) -> spool::worker_thread {
             throw std::runtime_error{"no thread"};
         }});
    current = &pool;
    EXPECT_ANY_THROW(pool.execute(gauge{act}));
    pool.shutdown();
    EXPECT_ANY_THROW(pool.execute(gauge{act}));
    current = nullptr;
}

TEST(hostile_first_task, may_call_the_pool_while_a_thread_drops_the_body_of_its_worker) {
    std::atomic<spool::thread_pool_executor*> current{nullptr};
    const std::function<void()> act = look_at(current);
    std::atomic<int> threads{0};
    test::gate started;
    spool::thread_pool_executor pool(
        {.core_size = 1,
         .thread_factory = [&](spool::task body, const spool::worker_info&) -> spool::worker_thread {
             if (threads++ != 0) {
                 return std::thread{std::move(body)};
             }
             return std::thread{[&started, dropped = std::move(body)] { started.wait(); }};
         },
         .uncaught = [](const spool::worker_info&, const std::exception_ptr&) {}});
    current = &pool;
    pool.execute(gauge{act});
    started.open();
    pool.submit(gauge{act}).get();
    pool.close();
    current = nullptr;
    EXPECT_EQ(threads, 2);
}

}  // namespace
