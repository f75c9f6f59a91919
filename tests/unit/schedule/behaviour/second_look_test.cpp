// The submitter's second look at the pool, after its task has already run and was requeued.
#include <atomic>
#include <chrono>
#include <memory>
#include <utility>

#include <gtest/gtest.h>
#include <spool/spool.hpp>

#include "schedule/schedule_link.hpp"
#include "unit/pool/behaviour/scripted_queue.hpp"

namespace {

using namespace std::chrono_literals;
using spool::detail::timer_runner;

class scripted_pool final : public spool::thread_pool_executor {
public:
    explicit scripted_pool(test::queue_script& script)
        : thread_pool_executor({.core_size = 1, .queue = std::make_unique<test::scripted_queue>(8, script)},
                               queue_first{}) {}
    ~scripted_pool() override { close(); }
    bool put_back(
        spool::task& work,
        spool::function_ref<bool(spool::run_state)> may_run = [](spool::run_state) { return true; }) const {
        return make_requeue_handle().requeue(work, may_run);
    }
};

class link_to final : public spool::detail::schedule_link {
public:
    explicit link_to(const scripted_pool& pool)
        : schedule_link(nullptr, spool::detail::at_shutdown::keep, spool::detail::at_shutdown::keep),
          pool_(pool) {}
    bool requeue(spool::task& work) const override { return pool_.put_back(work); }
    void report(const std::exception_ptr&) const noexcept override {}
    bool terminates_on_uncaught() const noexcept override { return false; }

private:
    const scripted_pool& pool_;
};

TEST(scheduled_second_look, a_series_that_has_run_and_come_back_before_a_shutdown_was_accepted) {
    test::queue_script script;
    scripted_pool pool{script};
    std::atomic<int> runs{0};
    auto body = [&runs] { ++runs; };
    auto* const series = new spool::detail::periodic_body<decltype(body)>(
        std::in_place, body, std::make_shared<link_to>(pool), spool::due_time::clock::now(), 1ns,
        spool::detail::repetition::fixed_rate, spool::periodic_options{});

    script.after_push.arm([&] {  // stored; the submitter has not looked again yet
        std::optional<spool::task> mine = pool.queue().poll();
        ASSERT_TRUE(mine.has_value());
        script.plays_empty = true;  // the workers ignore the requeued task
        (*mine)();
        pool.shutdown();
    });
    EXPECT_NO_THROW(pool.execute(timer_runner{*series}));
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(pool.rejected_count(), 0U);

    series->cancel(spool::cancel_mode::let_run);
    series->drop_handle();
    script.plays_empty = false;
}

TEST(scheduled_second_look, a_series_requeued_during_a_shutdown_is_removed_again) {
    test::queue_script script;
    scripted_pool pool{script};
    script.plays_empty = true;  // no worker takes it meanwhile
    script.after_push.arm([&] { pool.shutdown(); });
    bool ran = false;
    spool::task work = [&ran] { ran = true; };
    EXPECT_FALSE(pool.put_back(work, [](spool::run_state now) { return now == spool::run_state::running; }));
    EXPECT_FALSE(work.empty()) << "it is the caller's again";
    script.plays_empty = false;
    EXPECT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_FALSE(ran);
}

}  // namespace
