// A task destroys its pool. The call that submitted the task must have returned by then; debug
// builds check this.
#include <memory>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "pool_helpers.hpp"
#include "scripted_queue.hpp"
#include "support/eventually.hpp"

namespace {

struct owner {
    explicit owner(std::size_t workers = 1) {
        pool = std::make_unique<spool::thread_pool_executor>(
            spool::pool_options{.name = "doomed",
                                .core_size = workers,
                                .maximum_size = workers,
                                .queue = std::make_unique<test::scripted_queue>(4, script)});
        pool->prestart_all_core_threads();
    }
    test::queue_script script;
    test::gate gone;
    std::unique_ptr<spool::thread_pool_executor> pool;
};

// Holds the submitter between the offer and its second look, while the task destroys the pool.
template <class Submit>
void destroy_under(Submit submit) {
    owner own;
    own.script.after_push.arm([&own, &queue = own.pool->queue()] {
        queue.wake_consumers();  // the queue itself wakes the worker only afterwards
        own.gone.wait();
    });
    submit(*own.pool, [&own] {
        own.pool.reset();
        own.gone.open();
    });
}

#if defined(NDEBUG)
constexpr bool is_checked = false;
#else
constexpr bool is_checked = true;
#endif

constexpr const char* message = "\"doomed\" is destroyed while 1 call";

}  // namespace

TEST(pool_destroyed_under_call, of_execute_ends_a_debug_build_with_a_message) {
    if (!is_checked) {
        GTEST_SKIP() << "the library was built without the check";
    }
    EXPECT_DEATH(destroy_under([](auto& pool, auto f) { pool.execute(std::move(f)); }), message);
}

TEST(pool_destroyed_under_call, of_submit_ends_a_debug_build_with_a_message) {
    if (!is_checked) {
        GTEST_SKIP() << "the library was built without the check";
    }
    EXPECT_DEATH(destroy_under([](auto& pool, auto f) { static_cast<void>(pool.submit(std::move(f))); }),
                 message);
}

TEST(pool_destroyed_under_call, of_try_execute_ends_a_debug_build_with_a_message) {
    if (!is_checked) {
        GTEST_SKIP() << "the library was built without the check";
    }
    EXPECT_DEATH(destroy_under([](auto& pool, auto f) { static_cast<void>(pool.try_execute(std::move(f))); }),
                 message);
}

TEST(pool_destroyed_under_call, of_execute_all_ends_a_debug_build_with_a_message) {
    if (!is_checked) {
        GTEST_SKIP() << "the library was built without the check";
    }
    EXPECT_DEATH(destroy_under([](auto& pool, auto f) {
                     spool::task one[] = {std::move(f)};
                     pool.execute_all(one);
                 }),
                 message);
}

TEST(pool_destroyed_under_call, is_fine_once_the_call_has_returned) {
    owner own;
    test::gate submitted;
    own.pool->execute([&] {
        submitted.wait();
        own.pool.reset();
        own.gone.open();
    });
    submitted.open();
    EXPECT_TRUE(own.gone.opens());
}

// The worker that destroys the pool waits for the other worker, which is inside execute().
TEST(pool_destroyed_under_call, is_fine_while_another_worker_of_the_pool_submits) {
    owner own{2};
    spool::thread_pool_executor& pool = *own.pool;
    const auto being_destroyed = [&pool] { return pool.state() != spool::run_state::running; };
    pool.execute([&] {
        own.script.after_push.arm([&] {
            // The queue itself wakes the other worker only afterwards.
            pool.queue().wake_consumers();
            EXPECT_TRUE(test::eventually(being_destroyed));
        });
        pool.execute([&] {
            own.pool.reset();
            own.gone.open();
        });
    });
    EXPECT_TRUE(own.gone.opens());
}
