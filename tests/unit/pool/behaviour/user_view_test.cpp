// What a user of the pool learns: which pool has no thread, which task threw, and what a hook
// stored for a task.
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "pool_helpers.hpp"
#include "support/eventually.hpp"
#include "support/throws.hpp"

namespace {

using test::contains;

template <class E>
spool::thread_factory throwing(E error) {
    return [error](spool::task, const spool::worker_info&) -> std::thread { throw error; };
}

struct own_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Counts the live instances.
struct note {
    note(spool::task_id of, std::atomic<int>& count) : id(of), alive(count) { ++alive; }
    note(const note&) = delete;
    note& operator=(const note&) = delete;
    ~note() { --alive; }
    spool::task_id id;
    std::atomic<int>& alive;
};

class noting_hooks final : public spool::pool_hooks {
public:
    void before_execute(const spool::task_info& t) override {
        found_before += t.user_data != nullptr ? 1 : 0;
        t.user_data = std::make_shared<note>(t.id, alive);
    }
    void after_execute(const spool::task_info& t, const std::exception_ptr&) override {
        found_after += static_cast<note*>(t.user_data.get())->id == t.id ? 1 : 0;
    }
    std::atomic<int> alive{0};
    std::atomic<int> found_before{0};
    std::atomic<int> found_after{0};
};

class throwing_hooks final : public spool::pool_hooks {
public:
    void worker_started(const spool::worker_info&) override { throw std::runtime_error("no task yet"); }
    void before_execute(const spool::task_info&) override { throw std::runtime_error("before"); }
};

}  // namespace

TEST(pool_start_error, names_the_pool_and_keeps_type_and_code) {
    spool::thread_pool_executor pool(
        {.name = "bare",
         .core_size = 1,
         .thread_factory = throwing(
             std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again), "clone"))});
    try {
        pool.execute([] {});
        ADD_FAILURE() << "a task was accepted that nobody can run";
    } catch (const std::system_error& e) {
        EXPECT_EQ(e.code(), std::errc::resource_unavailable_try_again);
        const std::string reason = e.code().message();
        EXPECT_EQ(e.what(), "thread_pool_executor \"bare\": no thread: clone: " + reason);
    }
}

TEST(pool_start_error, of_a_users_own_type_is_thrown_as_it_is) {
    spool::thread_pool_executor pool(
        {.name = "bare", .core_size = 1, .thread_factory = throwing(own_error("mine"))});
    EXPECT_EQ(test::what_of<own_error>([&] { pool.execute([] {}); }), "mine");
}

TEST(pool_sizes, hint_at_a_negative_number_only_where_it_could_have_been_one) {
    const auto refusal = [](std::size_t size) {
        return test::what_of<std::invalid_argument>(
            [&] { const spool::thread_pool_executor pool({.core_size = 1, .maximum_size = size}); });
    };
    EXPECT_FALSE(contains(refusal(std::size_t{1} << 60), "negative"));
    EXPECT_TRUE(contains(refusal(std::size_t{1} << 60), "1152921504606846976"));
    EXPECT_TRUE(contains(refusal(static_cast<std::size_t>(-3)), "a negative number?"));
    const auto capacity = [](std::size_t n) {
        return test::what_of<std::invalid_argument>([&] { const spool::array_blocking_queue<int> queue(n); });
    };
    EXPECT_FALSE(contains(capacity(std::size_t{1} << 60), "negative"));
    EXPECT_TRUE(contains(capacity(static_cast<std::size_t>(-3)), "a negative number?"));
}

TEST(pool_uncaught_task, is_named_to_a_handler_that_asks_for_it) {
    test::record<spool::task_id> ids;
    std::vector<spool::task_id> submitted;
    {
        spool::thread_pool_executor pool(
            {.name = "named",
             .core_size = 1,
             .uncaught = [&](const spool::task_info& t, const std::exception_ptr&) {
                 EXPECT_EQ(t.worker->pool, "named");
                 ids.add(t.id);
             }});
        for (int i = 0; i < 3; ++i) {
            spool::task work = [] { throw std::runtime_error("lost"); };
            submitted.push_back(work.id());
            pool.execute(std::move(work));
        }
    }
    EXPECT_EQ(ids.all(), submitted);
}

TEST(pool_uncaught_task, is_named_where_hooks_look_on_and_where_a_hook_throws) {
    test::record<std::string> seen;
    spool::task work = [] {};
    const spool::task_id id = work.id();
    {
        spool::thread_pool_executor pool(
            {.core_size = 1,
             .hooks = std::make_shared<throwing_hooks>(),
             .uncaught = [&](const spool::task_info& t, const std::exception_ptr& e) {
                 seen.add(std::to_string(t.id) + " " + spool::describe(e));
             }});
        pool.execute(std::move(work));
    }
    const std::vector<std::string> all = seen.all();
    ASSERT_GE(all.size(), 2U);
    EXPECT_EQ(all[0], "0 no task yet");
    EXPECT_EQ(all[1], std::to_string(id) + " before");
}

TEST(pool_uncaught_task, is_not_the_one_that_submitted_it) {
    test::record<spool::task_id> ids;
    spool::task_id inner_id = 0;
    {
        spool::thread_pool_executor pool(
            {.core_size = 1,
             .uncaught = [&](const spool::task_info& t, const std::exception_ptr&) { ids.add(t.id); }});
        pool.submit([&] {
                spool::task inner = [] { throw std::runtime_error("inner"); };
                inner_id = inner.id();
                pool.execute(std::move(inner));
            })
            .get();
    }
    EXPECT_EQ(ids.all(), std::vector<spool::task_id>{inner_id});
}

TEST(pool_uncaught_policy, still_takes_a_handler_of_the_worker_and_refuses_an_empty_one) {
    using of_worker = std::function<void(const spool::worker_info&, const std::exception_ptr&)>;
    using of_task = std::function<void(const spool::task_info&, const std::exception_ptr&)>;
    EXPECT_FALSE(static_cast<bool>(spool::uncaught_policy{of_worker{}}));
    EXPECT_FALSE(static_cast<bool>(spool::uncaught_policy{of_task{}}));
    bool got_worker = false;
    const spool::uncaught_policy either = [&](const auto& where, const std::exception_ptr&) {
        got_worker = std::is_same_v<decltype(where), const spool::worker_info&>;
    };
    either(spool::worker_info{}, std::make_exception_ptr(1));
    EXPECT_TRUE(got_worker);
}

TEST(pool_hook_data, goes_from_before_to_after_execute_and_then_away) {
    const auto hooks = std::make_shared<noting_hooks>();
    test::record<spool::task_id> handled;
    {
        spool::thread_pool_executor pool(
            {.core_size = 2,
             .hooks = hooks,
             .uncaught = [&](const spool::task_info& t, const std::exception_ptr&) {
                 handled.add(static_cast<note*>(t.user_data.get())->id);
             }});
        for (int i = 0; i < 50; ++i) {
            pool.execute([] {});
        }
        spool::task failing = [] { throw std::runtime_error("noted"); };
        const spool::task_id id = failing.id();
        pool.execute(std::move(failing));
        pool.close();
        EXPECT_EQ(handled.all(), std::vector<spool::task_id>{id});
    }
    EXPECT_EQ(hooks->found_before, 0);
    EXPECT_EQ(hooks->found_after, 51);
    EXPECT_EQ(hooks->alive, 0);
}

TEST(pool_hook_data, goes_away_where_the_task_destroys_its_pool) {
    const auto hooks = std::make_shared<noting_hooks>();
    test::gate submitted;
    auto pool =
        std::make_unique<spool::thread_pool_executor>(spool::pool_options{.core_size = 1, .hooks = hooks});
    const auto done = pool->submit([&] {
        submitted.wait();
        pool.reset();
    });
    submitted.open();
    done.wait();
    EXPECT_TRUE(test::eventually([&] { return hooks->alive == 0; }));
}
