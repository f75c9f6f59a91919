// What wrong arguments and failing parts lead to: at least one test for each kind of bad input.
#include <chrono>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "pool_helpers.hpp"
#include "support/eventually.hpp"
#include "support/throws.hpp"

namespace {

using namespace std::chrono_literals;
using std::invalid_argument;
using test::contains;

std::string refusal(spool::pool_options options) {
    options.name = "wrong";
    const std::string what =
        test::what_of<invalid_argument>([&] { const spool::thread_pool_executor pool{std::move(options)}; });
    EXPECT_TRUE(contains(what, "\"wrong\"")) << what;
    return what;
}

// A queue that refuses or throws on demand.
class touchy_queue final : public spool::blocking_queue<spool::task> {
public:
    struct script {
        std::atomic<int> pushes_to_refuse{0};  // before any push fails
        std::atomic<int> pushes_to_fail{0};
        std::atomic<int> pops_to_fail{0};
    };
    explicit touchy_queue(script& s) : script_(s) {}
    [[nodiscard]] std::size_t size() const override { return inner_.size(); }

protected:
    bool try_push(spool::task& x) override {
        if (script_.pushes_to_refuse > 0) {
            --script_.pushes_to_refuse;
            return false;
        }
        fail_if(script_.pushes_to_fail, "push failed");
        return inner_.offer(std::move(x));
    }
    std::optional<spool::task> try_pop() override {
        fail_if(script_.pops_to_fail, "pop failed");
        return inner_.poll();
    }
    std::vector<spool::task> extract_if(spool::function_ref<bool(const spool::task&)> wanted) override {
        return inner_.take_if(wanted);
    }

private:
    static void fail_if(std::atomic<int>& left, const char* what) {
        if (left > 0) {
            --left;
            throw std::runtime_error(what);
        }
    }
    spool::linked_blocking_queue<spool::task> inner_;
    script& script_;
};

// True if the handle has the calls that end a service.
template <class Handle>
concept can_be_shut_down = requires(Handle& h) {
    h.shutdown();
};

}  // namespace

TEST(pool_bad_input, an_empty_callable_is_refused_everywhere_and_changes_nothing) {
    spool::thread_pool_executor pool({.name = "picky", .core_size = 2});
    const std::function<void()> nothing;
    const auto before = pool.snapshot();
    const std::string what = test::what_of<invalid_argument>([&] { pool.execute(spool::task{}); });
    EXPECT_TRUE(contains(what, "picky") && contains(what, "empty callable")) << what;
    EXPECT_THROW(pool.execute(nothing), invalid_argument);
    EXPECT_THROW(static_cast<void>(pool.submit(nothing)), invalid_argument);
    EXPECT_THROW(static_cast<void>(pool.submit(nothing, 1)), invalid_argument);
    EXPECT_THROW(static_cast<void>(pool.try_execute(spool::task{})), invalid_argument);
    EXPECT_THROW(static_cast<void>(pool.execute_for(spool::task{}, 1h)), invalid_argument);
    EXPECT_THROW(static_cast<void>(pool.invoke_all(std::vector<std::function<void()>>{[] {}, nothing})),
                 invalid_argument);
    EXPECT_EQ(pool.snapshot(), before);
    pool.close();
}

TEST(pool_bad_input, a_maximum_of_zero_is_refused_naming_both_sizes) {
    const std::string what = refusal({.core_size = 0, .maximum_size = 0});
    EXPECT_TRUE(contains(what, "core_size 0, maximum_size 0")) << what;
}

TEST(pool_bad_input, a_maximum_below_the_core_size_is_refused_naming_both) {
    const std::string what = refusal({.core_size = 17, .maximum_size = 5});
    EXPECT_TRUE(contains(what, "core_size 17, maximum_size 5")) << what;
}

TEST(pool_bad_input, a_minus_one_in_disguise_is_refused_naming_the_limit) {
    const auto minus_one = static_cast<std::size_t>(-1);
    for (const std::string& what : {refusal({.core_size = minus_one, .maximum_size = minus_one}),
                                    refusal({.core_size = 1, .maximum_size = minus_one})}) {
        EXPECT_TRUE(contains(what, std::to_string(spool::largest_pool))) << what;
        EXPECT_TRUE(contains(what, "negative")) << what;
    }
}

TEST(pool_bad_input, one_worker_too_many_is_refused_naming_the_limit) {
    const std::string what = refusal({.core_size = 1, .maximum_size = spool::largest_pool + 1});
    EXPECT_TRUE(contains(what, std::to_string(spool::largest_pool))) << what;
    EXPECT_FALSE(contains(what, "negative")) << what;
}

TEST(pool_bad_input, the_largest_sizes_are_accepted) {
    spool::thread_pool_executor pool({.core_size = spool::largest_pool, .maximum_size = spool::largest_pool});
    EXPECT_EQ(pool.maximum_size(), (std::size_t{1} << 29) - 1);
    pool.close();
}

TEST(pool_bad_input, a_negative_keep_alive_is_refused_naming_it) {
    const std::string what = refusal({.keep_alive = -5ns});
    EXPECT_TRUE(contains(what, "keep_alive") && contains(what, "-5 ns")) << what;
    EXPECT_TRUE(contains(refusal({.keep_alive = std::chrono::hours::min()}), "keep_alive"));
}

TEST(pool_bad_input, a_zero_keep_alive_with_core_time_out_is_refused) {
    const std::string what = refusal({.keep_alive = 0s, .core_threads_may_time_out = true});
    EXPECT_TRUE(contains(what, "keep_alive") && contains(what, "core threads")) << what;
    spool::thread_pool_executor without({.keep_alive = 0s});
    EXPECT_EQ(without.keep_alive(), 0s);
    without.close();
}

TEST(pool_bad_input, an_empty_queue_factory_or_policy_is_refused_naming_it) {
    EXPECT_TRUE(contains(refusal({.queue = nullptr}), "queue"));
    EXPECT_TRUE(contains(refusal({.thread_factory = spool::thread_factory{}}), "thread factory"));
    EXPECT_TRUE(contains(refusal({.rejection = spool::rejection_policy{}}), "rejection policy"));
    const spool::uncaught_policy::handler none;
    EXPECT_TRUE(contains(refusal({.uncaught = none}), "uncaught"));
}

TEST(pool_bad_input, a_refused_setting_leaves_every_setting_as_it_was) {
    spool::thread_pool_executor pool({.name = "kept", .core_size = 2, .maximum_size = 4, .keep_alive = 7s});
    const auto policy = pool.rejection();
    const auto factory = pool.thread_factory();
    const auto refused = [](auto set) { return test::what_of<invalid_argument>(set); };

    EXPECT_TRUE(contains(refused([&] { pool.set_core_size(5); }), "core_size 5, maximum_size 4"));
    EXPECT_TRUE(contains(refused([&] { pool.set_maximum_size(1); }), "core_size 2, maximum_size 1"));
    EXPECT_TRUE(contains(refused([&] { pool.set_maximum_size(0); }), "maximum_size 0"));
    EXPECT_TRUE(contains(refused([&] { pool.set_maximum_size(static_cast<std::size_t>(-1)); }), "exceed"));
    EXPECT_TRUE(contains(refused([&] { pool.set_core_size(static_cast<std::size_t>(-1)); }), "exceed"));
    EXPECT_TRUE(contains(refused([&] { pool.set_keep_alive(-1ms); }), "-1000000 ns"));
    EXPECT_TRUE(contains(refused([&] { pool.set_rejection({}); }), "\"kept\""));
    EXPECT_TRUE(contains(refused([&] { pool.set_thread_factory({}); }), "\"kept\""));
    pool.set_keep_alive(0s);
    EXPECT_THROW(pool.allow_core_threads_to_time_out(true), invalid_argument);
    pool.set_keep_alive(7s);
    pool.allow_core_threads_to_time_out(true);
    EXPECT_THROW(pool.set_keep_alive(0s), invalid_argument);

    EXPECT_EQ(pool.core_size(), 2U);
    EXPECT_EQ(pool.maximum_size(), 4U);
    EXPECT_EQ(pool.keep_alive(), 7s);
    EXPECT_TRUE(pool.core_threads_may_time_out());
    EXPECT_EQ(pool.rejection(), policy);
    EXPECT_EQ(pool.thread_factory(), factory);
    pool.close();
}

TEST(pool_bad_input, a_keep_alive_too_long_for_nanoseconds_means_never) {
    spool::thread_pool_executor pool({.keep_alive = std::chrono::hours::max()});
    EXPECT_EQ(pool.keep_alive(), std::chrono::nanoseconds::max());
    pool.set_keep_alive(std::chrono::years{1'000'000});
    EXPECT_EQ(pool.keep_alive(), std::chrono::nanoseconds::max());
    pool.close();
}

TEST(pool_bad_input, a_queue_that_throws_on_offer_tells_the_submitter_and_changes_nothing) {
    std::atomic<int> ran{0};
    touchy_queue::script script;
    test::busy_workers busy;
    spool::thread_pool_executor pool({.core_size = 1, .queue = std::make_unique<touchy_queue>(script)});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    const auto before = pool.snapshot();
    script.pushes_to_fail = 1;
    const std::string what = test::what_of<std::runtime_error>([&] { pool.execute([&ran] { ++ran; }); });
    EXPECT_EQ(what, "push failed");
    EXPECT_EQ(pool.snapshot(), before);
    pool.execute([&ran] { ++ran; });
    busy.release();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, 1);
}

// task_times wraps the task on its way into the queue: the caller must get it back unwrapped.
TEST(pool_bad_input, a_queue_that_throws_on_offer_leaves_the_task_of_try_execute_and_execute_for_untouched) {
    struct body {
        void operator()() const {}
    };
    touchy_queue::script script;
    test::busy_workers busy;
    spool::thread_pool_executor pool(
        {.core_size = 1, .queue = std::make_unique<touchy_queue>(script), .task_times = true});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    spool::task work = body{};
    const auto id = work.id();
    script.pushes_to_fail = 1;
    EXPECT_THROW(static_cast<void>(pool.try_execute(std::move(work))), std::runtime_error);
    EXPECT_NE(work.target<body>(), nullptr);
    EXPECT_EQ(work.id(), id);
    script.pushes_to_refuse = 1;
    script.pushes_to_fail = 1;
    EXPECT_THROW(static_cast<void>(pool.execute_for(std::move(work), 1h)), std::runtime_error);
    EXPECT_NE(work.target<body>(), nullptr);
    EXPECT_EQ(work.id(), id);
    busy.release();
    ASSERT_TRUE(test::ends(pool));
}

TEST(pool_bad_input, a_queue_that_throws_on_a_worker_is_reported_and_the_pool_goes_on) {
    touchy_queue::script script;
    test::record<std::string> reported;
    std::atomic<int> ran{0};
    spool::thread_pool_executor pool(
        {.name = "shaky",
         .core_size = 1,
         .queue = std::make_unique<touchy_queue>(script),
         .uncaught = [&](const spool::worker_info& where, const std::exception_ptr& error) {
             reported.add(where.name + ": " + spool::describe(error));
         }});
    script.pops_to_fail = 3;  // one per worker: the first one and its two successors
    pool.execute([&ran] { ++ran; });
    ASSERT_TRUE(test::eventually([&] { return reported.size() == 3; }));
    pool.submit([&ran] { ++ran; }).get();
    EXPECT_EQ(ran, 2);
    EXPECT_EQ(reported.all(), (std::vector<std::string>{"shaky-1: pop failed", "shaky-2: pop failed",
                                                        "shaky-3: pop failed"}));
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(pool.completed_task_count(), 2U);
}

TEST(pool_bad_input, a_task_that_never_ends_makes_await_termination_false_in_time_and_describe_tells_of_it) {
    test::busy_workers busy;
    spool::thread_pool_executor pool({.name = "stuck", .core_size = 1});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    static_cast<void>(pool.shutdown_now());
    const auto took = test::time_of([&] { EXPECT_FALSE(pool.await_termination(test::short_delay())); });
    EXPECT_GE(took, test::short_delay());
    EXPECT_LT(took, test::long_delay());
    EXPECT_TRUE(contains(pool.describe(), "seen for the first time"));
    const std::string text = pool.describe();
    EXPECT_TRUE(contains(text, "stuck-1: runs task ")) << text;
    EXPECT_TRUE(contains(text, " for at least 0.")) << text;
    EXPECT_TRUE(contains(text, "asked to stop")) << text;
    busy.release();
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
}

TEST(pool_bad_input, handles_that_should_not_shut_down_have_no_such_call) {
    static_assert(can_be_shut_down<spool::thread_pool_executor>);
    static_assert(!can_be_shut_down<spool::executor>);
    spool::thread_pool_executor pool({.core_size = 1});
    auto handle = spool::unconfigurable(pool);
    static_assert(!can_be_shut_down<decltype(handle)>);
    EXPECT_EQ(dynamic_cast<spool::executor_service*>(static_cast<spool::executor*>(&handle)), nullptr);
    EXPECT_EQ(handle.submit([] { return 3; }).get(), 3);
    pool.close();
}
