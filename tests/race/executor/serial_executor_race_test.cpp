// serial_executor over a target that refuses and drops tasks: each task has exactly one reported
// outcome.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "race/executor/seeded.hpp"
#include "spool/detail/task_scope.hpp"
#include "spool/executor/serial_executor.hpp"
#include "spool/executor/submit.hpp"
#include "support/tracked.hpp"
#include "unit/executor/stderr_of.hpp"

namespace {

using spool::task;

/// An executor with two threads. It refuses one task in eight, and drops another one in eight. Of
/// the rest, a thread drops one in eight instead of running it.
class unreliable_target final : public spool::executor {
public:
    explicit unreliable_target(std::uint32_t seed) : dice_(seed) {
        for (std::jthread& t : threads_) {
            t = std::jthread{[this] { work(); }};
        }
    }
    ~unreliable_target() override {
        const std::lock_guard lock{mutex_};
        ended_ = true;
        changed_.notify_all();
    }
    void execute(task work) override {
        const std::lock_guard lock{mutex_};
        const auto roll = reliable_ ? 7 : dice_.below(8);
        if (roll == 0) {
            throw std::length_error{"refused"};
        }
        (roll == 1 && !only_refuses_ ? dropped_ : held_).push_back(std::move(work));
        changed_.notify_all();
        ++in_hand_;
    }
    /// From now on the target refuses one task in eight, and drops none that it has accepted.
    void only_refuse() {
        const std::lock_guard lock{mutex_};
        only_refuses_ = true;
    }
    void become_reliable() {
        const std::lock_guard lock{mutex_};
        reliable_ = true;
    }
    /// Waits until the target has run or dropped every accepted task.
    void settle() {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [this] { return in_hand_ == 0; });
    }

private:
    void work() {
        for (;;) {
            task next;
            bool drop = false;
            {
                std::unique_lock lock{mutex_};
                changed_.wait(lock, [this] { return ended_ || !held_.empty() || !dropped_.empty(); });
                if (held_.empty() && dropped_.empty()) {
                    return;
                }
                std::deque<task>& from = held_.empty() ? dropped_ : held_;
                drop = &from == &dropped_ || (!reliable_ && !only_refuses_ && dice_.one_in(8));
                next = std::move(from.front());
                from.pop_front();
            }
            if (!drop) {
                const spool::task_scope scope{next};
                next();
            }
            next = nullptr;
            const std::lock_guard lock{mutex_};
            --in_hand_;
            changed_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<task> held_;
    std::deque<task> dropped_;  // a thread destroys them, perhaps before execute() returns
    int in_hand_ = 0;
    bool reliable_ = false;
    bool only_refuses_ = false;
    bool ended_ = false;
    test::dice dice_;
    std::jthread threads_[2];  // the last member: joined first
};

struct record {
    std::atomic<int> ran{0};
    bool refused = false;
    spool::future<void> result;  // of every second task
};

constexpr int submitters = 4;
constexpr int per_submitter = 1000;

/// Data that the tasks of one lane share without a lock.
struct lane_state {
    int inside = 0;
    int most_inside = 0;
    int out_of_order = 0;
    int last_of[submitters] = {-1, -1, -1, -1};
};

void run_one(lane_state& state, record& mine, int submitter, int number) {
    state.most_inside = std::max(state.most_inside, ++state.inside);
    state.out_of_order += number <= state.last_of[submitter] ? 1 : 0;
    state.last_of[submitter] = number;
    ++mine.ran;
    --state.inside;
}

// Adds up the numbers in "(3 waiting tasks destroyed)".
int sum_of_reported_losses(const std::string& text) {
    int sum = 0;
    for (std::size_t at = text.find(" waiting tasks destroyed"); at != std::string::npos;
         at = text.find(" waiting tasks destroyed", at + 1)) {
        sum += std::stoi(text.substr(text.rfind('(', at) + 1));
    }
    return sum;
}

/// How many tasks had which outcome.
struct ends {
    int ran = 0;
    int refused = 0;
    int cancelled = 0;
    int lost = 0;  // plain tasks that were destroyed
};

void expect_each_accounted_for_once(std::uint32_t seed, ends& total) {
    std::atomic<int> alive{0};
    lane_state state;
    std::vector<record> records(static_cast<std::size_t>(submitters * per_submitter));
    const std::string text = test::stderr_of([&] {
        unreliable_target target{seed};
        spool::serial_executor lane{target};
        {
            std::vector<std::jthread> threads;
            for (int s = 0; s < submitters; ++s) {
                threads.emplace_back([&, s,
                                      dice = test::dice{seed + static_cast<std::uint32_t>(s)}]() mutable {
                    for (int n = 0; n < per_submitter; ++n) {
                        record& mine = records[static_cast<std::size_t>(s * per_submitter + n)];
                        auto body = [&, s, n, guard = test::tracked{alive}] { run_one(state, mine, s, n); };
                        try {
                            if (n % 2 == 0) {
                                mine.result = spool::submit(lane, std::move(body));
                                // Lets the lane run empty, so that it calls the target again.
                                if (dice.one_in(4)) {
                                    mine.result.wait();
                                }
                            } else {
                                lane.execute(std::move(body));
                            }
                        } catch (const std::length_error&) {
                            mine.refused = true;
                        }
                    }
                });
            }
        }
        target.become_reliable();
        target.settle();
    });

    int lost = 0;
    for (record& r : records) {
        total.ran += r.ran;
        if (r.refused) {
            EXPECT_EQ(r.ran, 0);
            ++total.refused;
        } else if (r.result.valid()) {
            ASSERT_TRUE(r.result.is_done()) << r.result;
            EXPECT_EQ(r.ran, r.result.is_cancelled() ? 0 : 1);
            total.cancelled += r.result.is_cancelled() ? 1 : 0;
        } else {
            EXPECT_LE(r.ran, 1);
            lost += r.ran == 0 ? 1 : 0;
        }
    }
    EXPECT_EQ(alive, 0);
    EXPECT_LE(state.most_inside, 1);
    EXPECT_EQ(state.out_of_order, 0);
    total.lost += lost;
    // The lane does not report a task that the target itself dropped.
    EXPECT_LE(sum_of_reported_losses(text), lost);
}

TEST(serial_executor_race, each_task_runs_or_is_refused_or_is_cancelled_exactly_once) {
    const std::uint32_t seed = test::random_seed();
    SCOPED_TRACE(test::seed_note(seed));
    ends total;
    for (std::uint32_t round = 0; round < 30; ++round) {
        expect_each_accounted_for_once(seed + round, total);
    }
    EXPECT_EQ(total.ran + total.refused + total.cancelled + total.lost, 30 * submitters * per_submitter);
    EXPECT_TRUE(total.ran > 0 && total.refused > 0 && total.cancelled > 0 && total.lost > 0);
}

TEST(serial_executor_race, a_refusal_loses_no_task_but_the_refused_one) {
    const std::uint32_t seed = test::random_seed();
    SCOPED_TRACE(test::seed_note(seed));
    std::atomic<int> ran{0};
    std::atomic<int> refused{0};
    const std::string text = test::stderr_of([&] {
        unreliable_target target{seed};
        target.only_refuse();
        spool::serial_executor lane{target};
        {
            std::vector<std::jthread> threads;
            for (int s = 0; s < submitters; ++s) {
                threads.emplace_back([&] {
                    for (int n = 0; n < per_submitter; ++n) {
                        bool added = false;
                        try {
                            lane.execute([&] { ++ran; });
                            added = true;
                            // Lets the lane run empty, so that it calls the target again.
                            if (n % 8 == 0) {
                                spool::submit(lane, [] {}).wait();
                            }
                        } catch (const std::length_error&) {
                            refused += added ? 0 : 1;
                        }
                    }
                });
            }
        }
        target.settle();
    });
    EXPECT_EQ(ran + refused, submitters * per_submitter);
    EXPECT_GT(refused, 0);
    EXPECT_EQ(text, "");
}

TEST(serial_executor_race, a_lane_on_a_target_that_runs_all_accepted_tasks_loses_nothing) {
    const std::uint32_t seed = test::random_seed();
    SCOPED_TRACE(test::seed_note(seed));
    lane_state state;
    std::vector<record> records(static_cast<std::size_t>(submitters * per_submitter));
    unreliable_target target{seed};
    target.become_reliable();
    spool::serial_executor lane{target};
    {
        std::vector<std::jthread> threads;
        for (int s = 0; s < submitters; ++s) {
            threads.emplace_back([&, s] {
                for (int n = 0; n < per_submitter; ++n) {
                    record& mine = records[static_cast<std::size_t>(s * per_submitter + n)];
                    lane.execute([&, s, n] { run_one(state, mine, s, n); });
                }
            });
        }
    }
    spool::submit(lane, [] {}).get();
    for (const record& r : records) {
        ASSERT_EQ(r.ran, 1);
    }
    EXPECT_EQ(state.most_inside, 1);
    EXPECT_EQ(state.out_of_order, 0);
}

}  // namespace
