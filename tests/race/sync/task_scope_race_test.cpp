// Another thread stops a task while the task opens and closes inner scopes and asks for their
// tokens.
#include <gtest/gtest.h>

#include <atomic>
#include <stop_token>
#include <thread>

#include "race/sync/seed.hpp"
#include "spool/base/task.hpp"
#include "spool/detail/task_scope.hpp"
#include "spool/sync/this_task.hpp"

namespace {

using spool::task_scope;
namespace this_task = spool::this_task;

// A thread that requests the stop of each scope that it is given.
class stopper {
public:
    stopper() : thread_([this] { run(); }) {}
    stopper(const stopper&) = delete;
    stopper& operator=(const stopper&) = delete;
    ~stopper() {
        quit_ = true;
        turn_ = stopping;
        turn_.notify_all();
        thread_.join();
    }
    void stop(task_scope& scope) {
        scope_ = &scope;
        turn_ = stopping;
        turn_.notify_all();
    }
    /// True: the stop has been requested, and the stopper no longer uses the scope.
    [[nodiscard]] bool has_stopped() const { return turn_ == idle; }
    void wait_until_stopped() const { turn_.wait(stopping); }

private:
    static constexpr int idle = 0;
    static constexpr int stopping = 1;

    void run() {
        for (;;) {
            turn_.wait(idle);
            if (quit_) {
                return;
            }
            scope_->interrupt().request_stop();
            turn_ = idle;
            turn_.notify_all();
        }
    }

    std::atomic<int> turn_{idle};
    task_scope* scope_ = nullptr;  // published by turn_
    std::atomic<bool> quit_{false};
    std::thread thread_;
};

// Repeats `f` while the stop comes: often enough to collide with it, but bounded, to spare a busy
// machine.
template <class F>
void repeat_while_stopping(stopper& other, F f) {
    for (int i = 0; i < 50 && !other.has_stopped(); ++i) {
        f();
    }
    other.wait_until_stopped();
}

// Whether a scope's answers are consistent. A stopped token implies a stopped scope. A stop that
// was complete before the call shows in every token.
bool is_consistent(task_scope& scope, bool stop_was_complete) {
    const std::stop_token token = scope.token();
    if (token.stop_requested() && !scope.stop_requested()) {
        return false;
    }
    return !stop_was_complete || (token.stop_requested() && this_task::stop_requested());
}

// Opens nested scopes, and checks some of them.
bool open_and_ask(test::dice& dice, const stopper& other, int depth) {
    const bool complete = other.has_stopped();
    task_scope scope;
    const std::uint32_t choice = dice.roll(4);
    bool sound = true;
    if (choice == 0) {
        sound = is_consistent(scope, complete);
    }
    if (depth > 0) {
        sound = open_and_ask(dice, other, depth - 1) && sound;
    }
    if (choice == 1) {
        sound = is_consistent(scope, complete) && sound;
    }
    return sound && task_scope::current() == &scope;
}

TEST(task_scope_race, stop_of_the_outer_reaches_every_inner_scope) {
    constexpr int rounds = 1'000;
    test::dice dice{test::new_seed(), 0};
    int unsound = 0;
    int missed = 0;
    stopper other;
    for (int round = 0; round < rounds; ++round) {
        task_scope outer;
        other.stop(outer);
        repeat_while_stopping(other, [&] { unsound += open_and_ask(dice, other, 2) ? 0 : 1; });
        unsound += open_and_ask(dice, other, 2) ? 0 : 1;
        missed += this_task::stop_token().stop_requested() ? 0 : 1;
    }
    EXPECT_EQ(unsound, 0);
    EXPECT_EQ(missed, 0);
    EXPECT_EQ(task_scope::current(), nullptr);
}

// A stop callback on the token of an inner scope is called once, or the scope was closed before.
TEST(task_scope_race, callback_inside_runs_at_most_once) {
    constexpr int rounds = 1'000;
    int called_twice = 0;
    int missed = 0;
    stopper other;
    for (int round = 0; round < rounds; ++round) {
        task_scope outer;
        std::atomic<int> calls{0};
        other.stop(outer);
        {
            task_scope inner;
            const std::stop_callback count{this_task::stop_token(), [&calls] { ++calls; }};
            if (round % 2 == 0) {
                other.wait_until_stopped();
            }
            missed += round % 2 == 0 && calls != 1 ? 1 : 0;
        }
        other.wait_until_stopped();
        called_twice += calls > 1 ? 1 : 0;
    }
    EXPECT_EQ(called_twice, 0);
    EXPECT_EQ(missed, 0);
}

// A worker's scope inside another scope: the outer stop reaches each of the worker's tasks.
TEST(task_scope_race, reset_inner_scope_stays_linked_to_the_outer) {
    constexpr int rounds = 1'000;
    const spool::task next = [] {};
    int missed = 0;
    stopper other;
    for (int round = 0; round < rounds; ++round) {
        task_scope outer;
        task_scope inner;
        other.stop(outer);
        repeat_while_stopping(other, [&] {
            static_cast<void>(inner.token());
            inner.reset(next);
        });
        missed += inner.token().stop_requested() && inner.stop_requested() ? 0 : 1;
    }
    EXPECT_EQ(missed, 0);
}

}  // namespace
