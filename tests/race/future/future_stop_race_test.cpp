// No stop ever reaches a later task on the same worker, nor a callback that an earlier task left
// behind.
//
// One worker reuses one task_scope for many futures, as a pool's worker does. Another thread
// cancels them. Each cancel may come before, during or after the future's run, and so during the
// run of a neighbour. Tasks leave their token and a stop callback behind.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "race_rounds.hpp"
#include "spool/detail/task_scope.hpp"
#include "spool/future/future_task.hpp"
#include "spool/sync/this_task.hpp"

namespace {

using spool::future;
using spool::future_task;
using spool::task_scope;
using test::jitter;

constexpr std::size_t nobody = ~std::size_t{0};

// The number of the task whose stop this thread may deliver. The canceller sets it around cancel(),
// the worker around each task.
thread_local std::size_t acting_for = nobody;

struct task_record;

struct left_callback {
    task_record* record;
    void operator()() const noexcept;
};

// What one task did and saw. The worker writes it; the canceller writes only the atomics.
struct task_record {
    std::size_t number = 0;
    bool asks_for_token = false;
    future<int> handle;
    spool::task work;

    bool started = false;
    bool saw_stop_at_start = false;
    bool saw_stop = false;
    std::stop_token token;
    std::optional<std::stop_callback<left_callback>> callback;
    std::atomic<bool> cancel_began{false};  // set before cancel() is called
    std::atomic<bool> cancelled{false};     // what cancel() returned
    std::atomic<int> callback_calls{0};
    std::atomic<int> foreign_calls{0};  // calls of the callback for another task's stop
};

void left_callback::operator()() const noexcept {
    ++record->callback_calls;
    if (acting_for != record->number) {
        ++record->foreign_calls;
    }
}

// The body of a task: polls for a stop for a while, with or without asking for a token.
int look_for_stop(task_record& r, jitter& delays) {
    r.started = true;
    r.saw_stop_at_start = spool::this_task::stop_requested() && !r.cancel_began;
    if (r.asks_for_token) {
        r.token = spool::this_task::stop_token();
        r.callback.emplace(r.token, left_callback{&r});
    }
    for (std::uint32_t looks = delays.below(6); looks != 0 && !r.saw_stop; --looks) {
        delays.wait();
        r.saw_stop = spool::this_task::stop_requested();
    }
    return 7;
}

class stop_race {
public:
    stop_race(std::size_t count, std::uint32_t seed) : seed_(seed), worker_delays_(seed, 1), records_(count) {
        jitter choices{seed, 0};
        for (std::size_t i = 0; i < count; ++i) {
            records_[i] = std::make_unique<task_record>();
            task_record& r = *records_[i];
            r.number = i;
            r.asks_for_token = choices.below(3) != 0;
            auto parts = future_task<int>{[this, &r] { return look_for_stop(r, worker_delays_); }}.split();
            r.handle = std::move(parts.handle);
            r.work = std::move(parts.work);
        }
    }

    // Runs the worker and the canceller until the worker has finished every task.
    void run() {
        std::jthread worker{[this] { work_off(); }};
        std::jthread canceller{[this] { cancel_at_random(); }};
        worker.join();
        canceller.join();
    }

    void check() const {
        for (const auto& record : records_) {
            const task_record& r = *record;
            EXPECT_TRUE(r.handle.is_done());
            EXPECT_FALSE(r.saw_stop_at_start) << "task " << r.number;
            EXPECT_EQ(r.handle.is_cancelled(), r.cancelled) << "task " << r.number;
            EXPECT_EQ(r.foreign_calls, 0) << "task " << r.number;
            if (!r.cancelled) {
                EXPECT_FALSE(r.saw_stop) << "task " << r.number;
                EXPECT_FALSE(r.token.stop_requested()) << "task " << r.number;
                EXPECT_EQ(r.callback_calls, 0) << "task " << r.number;
            } else if (r.started && r.asks_for_token) {  // its own stop has reached the task
                EXPECT_TRUE(r.token.stop_requested()) << "task " << r.number;
                EXPECT_EQ(r.callback_calls, 1) << "task " << r.number;
            }
        }
    }

    // How many tasks were cancelled after they had started: with 0 the test has tried nothing.
    [[nodiscard]] int cancelled_while_running() const {
        int n = 0;
        for (const auto& record : records_) {
            n += record->cancelled && record->started ? 1 : 0;
        }
        return n;
    }

private:
    void work_off() {
        std::optional<task_scope> scope;
        for (std::size_t i = 0; i < records_.size(); ++i) {
            spool::task work = std::move(records_[i]->work);
            if (scope.has_value()) {
                scope->reset(work);
            } else {
                scope.emplace(work);
            }
            acting_for = i;
            position_ = i;
            work();
            acting_for = nobody;
            worker_delays_.wait();
        }
        position_ = records_.size();
    }

    void cancel_at_random() {
        jitter choices{seed_, 2};
        std::size_t next = 0;
        while (next < records_.size()) {
            const std::size_t at = position_;
            if (at == records_.size()) {
                return;
            }
            // Cancels mostly the running task: at most one ahead of the worker's position, and
            // behind it if the worker moves on meanwhile.
            next = std::max(next, at);
            if (next > at + 1) {
                std::this_thread::yield();
                continue;
            }
            choices.wait();
            if (choices.below(4) != 0) {
                cancel(next);
            }
            ++next;
        }
    }

    void cancel(std::size_t i) {
        task_record& r = *records_[i];
        acting_for = i;
        r.cancel_began = true;
        r.cancelled = r.handle.cancel(spool::cancel_mode::interrupt);
        acting_for = nobody;
    }

    std::uint32_t seed_;
    jitter worker_delays_;  // of the worker, in and between the tasks
    std::vector<std::unique_ptr<task_record>> records_;
    std::atomic<std::size_t> position_{0};  // the task that the worker is at
};

}  // namespace

TEST(future_stop_race, no_stop_reaches_a_later_task_or_a_destroyed_callback) {
    const auto seed = test::race_seed();
    SCOPED_TRACE(test::seed_text(seed));
    int hits = 0;
    for (std::uint32_t part = 0; part < 40 && !HasFailure(); ++part) {
        stop_race race{1000, seed + part};
        race.run();
        race.check();
        hits += race.cancelled_while_running();
    }
    RecordProperty("cancelled_while_running", hits);
    EXPECT_GT(hits, 0);
}
