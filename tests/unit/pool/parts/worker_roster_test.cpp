// worker_roster alone: the test's own thread plays the starters and the workers.
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include <spool/spool.hpp>

#include "pool/worker/worker_roster.hpp"

namespace {

using spool::run_state;
using spool::task;
using spool::worker;
using spool::worker_stage;

struct thread_log {
    int joined = 0;
    int detached = 0;
};

class pool_roster : public testing::Test {
protected:
    spool::worker_thread thread() {
        struct logged final : spool::worker_thread::handle {
            explicit logged(thread_log& to) : log(to) {}
            void join() override { ++log.joined; }
            void detach() override { ++log.detached; }
            thread_log& log;
        };
        return spool::worker_thread{std::make_unique<logged>(log)};
    }
    // Counts a worker in, as worker_path does before it enlists one.
    std::shared_ptr<worker> counted(task* first = nullptr) {
        spool::pool_control seen = control.load();
        EXPECT_TRUE(control.try_add_worker(seen));
        return roster->enlist(first);
    }
    std::shared_ptr<worker> working(spool::task_scope& scope) {
        std::shared_ptr<worker> w = counted();
        EXPECT_TRUE(roster->begin(*w, scope));
        EXPECT_TRUE(roster->keep_thread(w, thread()));
        return w;
    }
    spool::pool_snapshot numbers() {
        spool::pool_snapshot s;
        begun = roster->count(s);
        return s;
    }
    // A thread that has left the pool joins nobody, and this thread may have.
    void join_ended_elsewhere() {
        std::thread{[this] { roster->join_ended(); }}.join();
    }

    const std::string name = "p";
    thread_log log;
    spool::control_word control;
    std::uint64_t begun = 0;
    std::unique_ptr<spool::worker_roster> roster = std::make_unique<spool::worker_roster>(name, control);
};

}  // namespace

TEST_F(pool_roster, names_workers_by_numbers_that_are_never_used_twice) {
    const std::shared_ptr<worker> one = counted();
    EXPECT_EQ(one->info.name, "p-1");
    ASSERT_TRUE(roster->strike_off(*one, nullptr));
    EXPECT_EQ(counted()->info.name, "p-2");
}

TEST_F(pool_roster, takes_a_first_task_which_counts_as_begun_at_once) {
    task first{[] {}};
    const std::shared_ptr<worker> w = counted(&first);
    EXPECT_TRUE(first.empty());
    EXPECT_EQ(numbers().active, 1U);
    EXPECT_EQ(begun, 1U);
}

TEST_F(pool_roster, gives_the_first_task_back_when_the_pool_has_shut_down) {
    control.advance_to(run_state::shutting_down);
    task first{[] {}};
    EXPECT_EQ(counted(&first), nullptr);
    EXPECT_FALSE(first.empty());
    EXPECT_NE(counted(), nullptr) << "a worker for queued tasks is allowed until the pool stops";
    control.advance_to(run_state::stopping);
    EXPECT_EQ(counted(), nullptr);
}

TEST_F(pool_roster, gives_the_first_task_back_when_a_worker_is_struck_off) {
    task first{[] {}};
    const std::shared_ptr<worker> w = counted(&first);
    ASSERT_TRUE(roster->strike_off(*w, &first));
    EXPECT_FALSE(first.empty());
    spool::task_scope scope;
    EXPECT_FALSE(roster->begin(*w, scope)) << "a body that begins now ends at once";
}

TEST_F(pool_roster, does_not_strike_off_a_worker_whose_body_has_begun) {
    spool::task_scope scope;
    const std::shared_ptr<worker> w = counted();
    ASSERT_TRUE(roster->begin(*w, scope));
    EXPECT_FALSE(roster->strike_off(*w, nullptr));
}

TEST_F(pool_roster, keeps_no_thread_of_a_worker_whose_body_was_dropped_before) {
    task first{[] {}};
    const std::shared_ptr<worker> w = counted(&first);
    EXPECT_FALSE(roster->drop(*w).has_value()) << "the starter will see it";
    EXPECT_FALSE(roster->keep_thread(w, thread()));
    EXPECT_EQ(log.joined, 1);
    EXPECT_TRUE(roster->strike_off(*w, &first));
    EXPECT_FALSE(first.empty());
}

TEST_F(pool_roster, returns_the_first_task_when_the_body_is_dropped_later) {
    task first{[] {}};
    const std::shared_ptr<worker> w = counted(&first);
    ASSERT_TRUE(roster->keep_thread(w, thread()));
    const std::optional<task> back = roster->drop(*w);
    ASSERT_TRUE(back.has_value());
    EXPECT_FALSE(back->empty());
    join_ended_elsewhere();
    EXPECT_EQ(log.joined, 1);
}

TEST_F(pool_roster, counts_what_workers_completed_before_they_left) {
    spool::task_scope scope;
    const std::shared_ptr<worker> w = working(scope);
    w->started.store(3);
    w->completed.store(3);
    EXPECT_EQ(numbers().completed, 3U);
    auto before = roster->retire(*w);
    EXPECT_TRUE(before.empty());
    EXPECT_EQ(numbers().completed, 3U);
    EXPECT_EQ(begun, 3U);
    EXPECT_EQ(numbers().largest_pool_size, 1U);
}

TEST_F(pool_roster, joins_each_ended_thread_once_and_never_on_a_thread_that_has_left) {
    spool::task_scope scope;
    const std::shared_ptr<worker> w = working(scope);
    auto before = roster->retire(*w);
    spool::worker_roster::join(before);
    EXPECT_EQ(log.joined, 0) << "nobody ended before it";
    roster->join_ended();
    EXPECT_EQ(log.joined, 0) << "this thread has left the pool";
    join_ended_elsewhere();
    join_ended_elsewhere();
    EXPECT_EQ(log.joined, 1);
}

TEST_F(pool_roster, hands_the_threads_of_those_who_ended_before_to_the_next_who_leaves) {
    spool::task_scope scope;
    const std::shared_ptr<worker> one = working(scope);
    const std::shared_ptr<worker> two = working(scope);
    static_cast<void>(roster->retire(*one));
    auto before = roster->retire(*two);
    ASSERT_EQ(before.size(), 1U);
    EXPECT_EQ(before.front(), one);
    spool::worker_roster::join(before);
    EXPECT_EQ(log.joined, 1);
}

TEST_F(pool_roster, detaches_the_thread_of_a_worker_that_destroyed_the_pool) {
    spool::task_scope scope;
    const std::shared_ptr<worker> w = working(scope);
    roster->release(*w);
    EXPECT_EQ(log.detached, 1);
    EXPECT_EQ(numbers().completed, 0U);
}

TEST_F(pool_roster, detaches_at_its_end_the_threads_that_nobody_joined) {
    spool::task_scope scope;
    const std::shared_ptr<worker> w = working(scope);
    static_cast<void>(roster->retire(*w));
    roster.reset();
    EXPECT_EQ(log.detached, 1);
    EXPECT_EQ(log.joined, 0);
}

TEST_F(pool_roster, requests_a_stop_on_every_worker_once) {
    spool::task_scope scope;
    const std::shared_ptr<worker> one = working(scope);
    const std::shared_ptr<worker> two = counted();
    control.advance_to(run_state::stopping);
    roster->request_stops();
    EXPECT_TRUE(scope.stop_requested());
    EXPECT_TRUE(one->asked_to_stop);
    EXPECT_TRUE(two->asked_to_stop);
}

TEST_F(pool_roster, remembers_the_last_failed_start_until_a_thread_starts) {
    EXPECT_FALSE(roster->has_start_failed());
    roster->record_start_failure(std::make_exception_ptr(std::runtime_error("no thread")));
    EXPECT_TRUE(roster->has_start_failed());
    EXPECT_EQ(spool::describe(roster->last_start_error()), "no thread");
    roster->record_start();
    EXPECT_FALSE(roster->has_start_failed());
}

TEST_F(pool_roster, describes_a_line_per_worker) {
    spool::task_scope scope;
    const std::shared_ptr<worker> idle = working(scope);
    const std::shared_ptr<worker> starting = counted();
    std::string text;
    roster->describe(text, false);
    EXPECT_EQ(text, "\n  p-1: idle\n  p-2: starting");
}
