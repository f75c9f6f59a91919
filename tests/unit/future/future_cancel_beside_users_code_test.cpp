// cancel() does not wait for user code on another thread: destructors of callables, moves of
// results.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "spool/future/future_task.hpp"
#include "support/gate.hpp"

namespace {

using spool::cancel_mode;
using spool::future;
using spool::future_state;
using spool::future_task;

// Its destructor opens `begun` and waits for `go_on`.
class slow_to_go {
public:
    slow_to_go(test::gate& begun, test::gate& go_on) : begun_(&begun), go_on_(&go_on) {}
    slow_to_go(slow_to_go&& other) noexcept
        : begun_(std::exchange(other.begun_, nullptr)), go_on_(other.go_on_) {}
    slow_to_go& operator=(slow_to_go&&) = delete;
    ~slow_to_go() {
        if (begun_ != nullptr) {
            begun_->open();
            go_on_->wait();
        }
    }

private:
    test::gate* begun_;
    test::gate* go_on_;
};

// Calls `f` on a new thread. True if `f` returns before the gate is opened.
template <class F>
bool returns_before(test::gate& go_on, F f) {
    test::gate returned;
    std::thread caller{[&] {
        f();
        returned.open();
    }};
    const bool in_time = returned.opens_within(test::long_delay() / 4);
    if (!in_time) {
        go_on.open();
    }
    caller.join();
    return in_time;
}

class future_cancel_beside : public testing::TestWithParam<cancel_mode> {};

TEST_P(future_cancel_beside, the_callables_destructor_cancels_and_returns) {
    test::gate begun;
    test::gate go_on;
    future_task<int> work{[slow = slow_to_go{begun, go_on}] { return 7; }};
    const future<int> f = work;
    std::thread runner{[&] { work.run(); }};
    const test::open_at_end guard{go_on};
    EXPECT_TRUE(begun.opens());
    std::atomic<bool> cancelled{false};
    EXPECT_TRUE(returns_before(go_on, [&, mode = GetParam()] { cancelled = f.cancel(mode); }));
    EXPECT_TRUE(cancelled);
    EXPECT_TRUE(f.is_cancelled());
    go_on.open();
    runner.join();
    EXPECT_TRUE(f.is_cancelled());
}

INSTANTIATE_TEST_SUITE_P(modes, future_cancel_beside,
                         testing::Values(cancel_mode::interrupt, cancel_mode::let_run), [](const auto& mode) {
                             return mode.param == cancel_mode::interrupt ? "interrupt" : "let_run";
                         });

TEST(future_cancel_beside_users_code, of_a_body_that_threw_cancels_and_returns) {
    test::gate begun;
    test::gate go_on;
    future_task<int> work{[slow = slow_to_go{begun, go_on}]() -> int { throw std::string{"thrown"}; }};
    const future<int> f = work;
    std::thread runner{[&] { work.run(); }};
    const test::open_at_end guard{go_on};
    EXPECT_TRUE(begun.opens());
    EXPECT_TRUE(returns_before(go_on, [&] { static_cast<void>(f.cancel()); }));
    EXPECT_TRUE(f.is_cancelled());
    go_on.open();
    runner.join();
}

TEST(future_cancel_beside_users_code, that_destroys_a_callable_never_run_returns_false) {
    test::gate begun;
    test::gate go_on;
    const future_task<int> work{[slow = slow_to_go{begun, go_on}] { return 7; }};
    const future<int> f = work;
    std::thread first{[&] { EXPECT_TRUE(f.cancel()); }};
    const test::open_at_end guard{go_on};
    EXPECT_TRUE(begun.opens());
    std::atomic<bool> cancelled{true};
    EXPECT_TRUE(returns_before(go_on, [&] { cancelled = f.cancel(); }));
    EXPECT_FALSE(cancelled);
    EXPECT_FALSE(f.is_done());  // the callable is destroyed before the future is done
    go_on.open();
    first.join();
    EXPECT_TRUE(f.is_cancelled());
}

// Its second move opens `begun` and waits for `go_on`. The first move is out of the body, the
// second into the future.
struct slow_to_move {
    test::gate* begun;
    test::gate* go_on;
    int moves = 0;

    slow_to_move(test::gate& b, test::gate& g) : begun(&b), go_on(&g) {}
    slow_to_move(slow_to_move&& other) noexcept
        : begun(other.begun), go_on(other.go_on), moves(other.moves + 1) {
        if (moves == 2) {
            begun->open();
            go_on->wait();
        }
    }
    slow_to_move& operator=(slow_to_move&&) = delete;
    ~slow_to_move() = default;
};

TEST(future_cancel_beside_users_code, that_moves_the_result_returns_false_and_the_result_stays) {
    test::gate begun;
    test::gate go_on;
    future_task<slow_to_move> work{[&] { return slow_to_move{begun, go_on}; }};
    future<slow_to_move> f = work;
    std::thread runner{[&] { work.run(); }};
    const test::open_at_end guard{go_on};
    EXPECT_TRUE(begun.opens());
    std::atomic<bool> cancelled{true};
    EXPECT_TRUE(returns_before(go_on, [&] { cancelled = f.cancel(); }));
    EXPECT_FALSE(cancelled);
    go_on.open();
    runner.join();
    EXPECT_EQ(f.state(), future_state::succeeded);
}

// The callable owns a stop callback that cancels the callable's own future.
TEST(future_cancel_beside_users_code, of_a_stop_callback_that_cancels_does_not_deadlock) {
    test::gate called;
    test::gate dying;
    std::stop_source outer;
    struct cancel_own {
        std::shared_ptr<future<int>> own;
        test::gate& called;
        test::gate& dying;
        void operator()() const {
            called.open();
            static_cast<void>(dying.opens());  // by now the callable is being destroyed
            static_cast<void>(own->cancel());
        }
    };
    struct says_so {
        test::gate* dying;
        ~says_so() { dying->open(); }
    };
    const auto own = std::make_shared<future<int>>();
    struct body {
        std::unique_ptr<std::stop_callback<cancel_own>> on_stop;
        std::unique_ptr<says_so> first;  // destroyed before on_stop
        int operator()() const { return 7; }
    };
    body b{nullptr, std::unique_ptr<says_so>{new says_so{&dying}}};
    b.on_stop =
        std::make_unique<std::stop_callback<cancel_own>>(outer.get_token(), cancel_own{own, called, dying});
    future_task<int> work{std::move(b)};
    *own = work;
    const future<int> f = work;
    std::thread stopper{[&] { outer.request_stop(); }};
    EXPECT_TRUE(called.opens());
    std::thread runner{[&] { work.run(); }};
    EXPECT_TRUE(f.wait_for(test::long_delay()));
    runner.join();
    stopper.join();
    *own = {};
}

TEST(future_cancel_beside_users_code, from_the_callables_own_destructor_leaves_the_result) {
    struct cancels_at_end {
        std::shared_ptr<future<int>> own;
        bool* answer;
        cancels_at_end(std::shared_ptr<future<int>> f, bool& a) : own(std::move(f)), answer(&a) {}
        cancels_at_end(cancels_at_end&&) = default;
        cancels_at_end& operator=(cancels_at_end&&) = delete;
        ~cancels_at_end() {
            if (own != nullptr) {
                *answer = own->cancel();
                *own = {};
            }
        }
        int operator()() const { return 7; }
    };
    bool answer = true;
    const auto own = std::make_shared<future<int>>();
    future_task<int> work{cancels_at_end{own, answer}};
    const future<int> f = work;
    *own = f;
    work.run();
    EXPECT_FALSE(answer);
    EXPECT_EQ(f.state(), future_state::succeeded);
    EXPECT_EQ(f.get(), 7);
}

TEST(future_cancel_beside_users_code, an_outcome_set_from_the_callables_own_destructor_is_refused) {
    struct sets_at_end {
        future_task<int>** own;
        bool* answer;
        sets_at_end(future_task<int>** f, bool& a) : own(f), answer(&a) {}
        sets_at_end(sets_at_end&& other) noexcept
            : own(std::exchange(other.own, nullptr)), answer(other.answer) {}
        sets_at_end& operator=(sets_at_end&&) = delete;
        ~sets_at_end() {
            if (own != nullptr) {
                *answer = (*own)->set_value(8);
            }
        }
        int operator()() const { return 7; }
    };
    bool answer = true;
    future_task<int>* own = nullptr;
    future_task<int> work{sets_at_end{&own, answer}};
    own = &work;
    work.run();
    EXPECT_FALSE(answer);
    EXPECT_EQ(work.get(), 7);
}

}  // namespace
