// What survives shutdown(). A first wave of tasks blocks every worker, and a second wave waits
// behind it in the queue. Then the scheduler is shut down, and each task must end as the policies
// say.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <initializer_list>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <vector>

#include "unit/schedule/conformance/conformance_scheduler.hpp"

namespace conformance {
namespace {

using namespace std::chrono_literals;
using spool::future_state;
using spool::scheduled_thread_pool_executor;

constexpr int workers = 4;

struct choice {
    bool delayed = true;    // run_delayed_after_shutdown
    bool periodic = false;  // run_periodic_after_shutdown
    bool remove = true;     // remove_on_cancel
    // Cancel the periodic tasks that survive shutdown(); otherwise they run until they throw.
    bool cancel_periodic = false;
    int rounds = 1;  // the run in which a periodic task blocks

    friend std::ostream& operator<<(std::ostream& out, const choice& c) {
        return out << "delayed " << c.delayed << ", periodic " << c.periodic << ", remove " << c.remove
                   << ", cancel periodic " << c.cancel_periodic << ", rounds " << c.rounds;
    }
};

class two_waves {
public:
    explicit two_waves(const choice& c) : choice_(c) {}

    void apply_policies() {
        pool_.set_run_delayed_after_shutdown(choice_.delayed);
        pool_.set_run_periodic_after_shutdown(choice_.periodic);
        pool_.set_remove_on_cancel(choice_.remove);
    }
    void expect_policies() const {
        EXPECT_EQ(pool_.run_delayed_after_shutdown(), choice_.delayed);
        EXPECT_EQ(pool_.run_periodic_after_shutdown(), choice_.periodic);
        EXPECT_EQ(pool_.remove_on_cancel(), choice_.remove);
    }

    void block_all_workers() {
        schedule_a_wave();
        ASSERT_TRUE(test::eventually([&] {
            clock_->advance(1ms);
            return held_.entered() == workers;
        }));
        EXPECT_EQ(pool_.active_count(), 4U);
        EXPECT_TRUE(pool_.queue().empty());
    }

    void queue_up() {
        schedule_a_wave();
        EXPECT_EQ(pool_.queue().size(), 4U);
        EXPECT_EQ(held_.entered(), workers);
        expect_first_wave_runs();
        expect_in_state(future_state::pending, {immediate_[1], delayed_[1], periodic_[2], periodic_[3]});
    }

    void shut_down() {
        pool_.shutdown();
        EXPECT_TRUE(pool_.is_shutdown());
        EXPECT_TRUE(pool_.is_terminating());
        EXPECT_FALSE(pool_.is_terminated());
        EXPECT_THROW(pool_.execute([] {}), spool::rejected_execution);
        EXPECT_THROW(static_cast<void>(pool_.submit([] {})), spool::rejected_execution);
        EXPECT_THROW(pool_.schedule([] {}, 1ms), spool::rejected_execution);
        EXPECT_THROW(pool_.schedule_at_fixed_rate([] {}, 1ms, 1ms), spool::rejected_execution);
        EXPECT_THROW(pool_.schedule_with_fixed_delay([] {}, 1ms, 1ms), spool::rejected_execution);
    }

    void expect_the_right_ones_wait() {
        EXPECT_TRUE(is_queued(pool_, immediate_[1]));
        EXPECT_EQ(is_queued(pool_, delayed_[1]), choice_.delayed);
        EXPECT_EQ(is_queued(pool_, periodic_[2]), choice_.periodic);
        EXPECT_EQ(is_queued(pool_, periodic_[3]), choice_.periodic);

        expect_first_wave_runs();
        expect_in_state(future_state::pending, {immediate_[1]});
        expect_in_state(pending_if(choice_.delayed), {delayed_[1]});
        expect_in_state(pending_if(choice_.periodic), {periodic_[2], periodic_[3]});
    }

    void cancel_periodic_ones() {
        for (const auto& f : periodic_) {
            EXPECT_TRUE(f.cancel(spool::cancel_mode::let_run));
        }
    }

    void expect_the_right_ends() {
        const bool periodic_wait = choice_.periodic && !(choice_.cancel_periodic && choice_.remove);
        // The clock advances only if a task waits for that.
        const auto time_passes = choice_.delayed || periodic_wait ? 1ms : 0ms;
        held_.release();
        ASSERT_TRUE(test::eventually([&] {
            clock_->advance(time_passes);
            return pool_.is_terminated();
        })) << pool_.describe();
        EXPECT_FALSE(pool_.is_terminating());
        EXPECT_TRUE(pool_.queue().empty());

        const bool went_on = choice_.periodic && !choice_.cancel_periodic;
        expect_in_state(future_state::succeeded, immediate_);
        expect_in_state(future_state::succeeded, {delayed_[0]});
        expect_in_state(choice_.delayed ? future_state::succeeded : future_state::cancelled, {delayed_[1]});
        expect_in_state(went_on ? future_state::failed : future_state::cancelled, periodic_);
        for (const auto& f : periodic_) {
            EXPECT_TRUE(!went_on || f.exception_now() == enough_);
        }
        EXPECT_EQ(held_.entered(), workers + 1 + (choice_.delayed ? 1 : 0) + (went_on ? 2 : 0));
        EXPECT_EQ(held_.left(), held_.entered()) << "who runs at shutdown() runs to its end";
    }

private:
    using futures = std::vector<spool::future<void>>;

    // One task of each of four kinds: one for each worker.
    void schedule_a_wave() {
        const auto periodic = [this, left = choice_.rounds]() mutable {
            --left;
            if (left == 0) {
                held_.body()();
            } else if (left < 0) {
                std::rethrow_exception(enough_);
            }
        };
        const spool::periodic_options until_it_throws{.on_exception = spool::on_exception::stop};
        immediate_.push_back(pool_.submit(held_.body()));
        delayed_.push_back(pool_.schedule(held_.body(), 1ms));
        periodic_.push_back(pool_.schedule_at_fixed_rate(periodic, 1ms, 1ms, until_it_throws));
        periodic_.push_back(pool_.schedule_with_fixed_delay(periodic, 1ms, 1ms, until_it_throws));
    }
    void expect_first_wave_runs() const {
        expect_in_state(future_state::running, {immediate_[0], delayed_[0], periodic_[0], periodic_[1]});
    }
    static future_state pending_if(bool pending) {
        return pending ? future_state::pending : future_state::cancelled;
    }
    static void expect_in_state(future_state expected, const futures& some) {
        for (const auto& f : some) {
            EXPECT_EQ(f.state(), expected) << f;
        }
    }

    const choice choice_;
    const std::exception_ptr enough_ = std::make_exception_ptr(std::domain_error("enough"));
    const std::shared_ptr<spool::testing::manual_clock> clock_ = standing_clock();
    blocker held_;
    scheduled_thread_pool_executor pool_{scheduler_of(workers, clock_)};
    const ended_at_last end_{pool_, held_};
    futures immediate_;
    futures delayed_;
    futures periodic_;
};

void expect_each_to_end_as_chosen(two_waves& tasks, const choice& c) {
    tasks.expect_policies();
    ASSERT_NO_FATAL_FAILURE(tasks.block_all_workers());
    tasks.queue_up();
    tasks.shut_down();
    tasks.expect_the_right_ones_wait();
    if (c.periodic && c.cancel_periodic) {
        tasks.cancel_periodic_ones();
    }
    tasks.expect_the_right_ends();
}

TEST(scheduled_thread_pool_executor,
     STPE_028_by_default_delayed_tasks_outlive_shutdown_and_periodic_ones_do_not) {
    const choice by_default;
    two_waves tasks{by_default};
    expect_each_to_end_as_chosen(tasks, by_default);
}

TEST(scheduled_thread_pool_executor, STPE_028_the_policies_say_which_tasks_outlive_shutdown) {
    for (int bits = 0; bits < 32; ++bits) {
        const choice c{.delayed = (bits & 1) != 0,
                       .periodic = (bits & 2) != 0,
                       .remove = (bits & 4) != 0,
                       .cancel_periodic = (bits & 8) != 0,
                       .rounds = (bits & 16) != 0 ? 2 : 1};
        SCOPED_TRACE(::testing::PrintToString(c));
        two_waves tasks{c};
        tasks.apply_policies();
        expect_each_to_end_as_chosen(tasks, c);
    }
}

}  // namespace
}  // namespace conformance
