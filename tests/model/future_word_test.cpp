// Cancel against run in a future: the steps of future_steps.hpp, with the done_event that wakes the
// waiters.
#include "model/explorer/atomics.hpp"
#include "model/report.hpp"
#include "spool/detail/done_event.hpp"
#include "spool/future/detail/future_steps.hpp"

namespace {

using spool::cancel_mode;
using spool::detail::future_word;
using spool::detail::phase;

// The scope of the thread that runs the body. No interruption may come after run() has deleted it.
struct alignas(16) scope {
    model::atomic<int> interrupted{0};
};

// The life cycle of a future<int>.
class future {
protected:
    // Where the runner calls users' code that takes the lock which the canceller holds.
    enum class place { none, destructor, move };
    place takes_lock_in_ = place::none;

public:
    // ---- The host of future_steps
    [[nodiscard]] future_word look() { return word_.load(); }  // the look at the word
    void destroy_callable() { callable_.write(callable_.read() - 1); }
    void cancelled_before_start() {}
    // No destructor in this model calls cancel().
    [[nodiscard]] static bool ends_here(future_word) { return false; }
    void interrupt(future_word running) { running.who<scope>()->interrupted.store(1); }

    // ---- What the threads do
    void run() {
        auto* const mine = new scope;
        if (spool::detail::future_claim{word_}.start(mine)) {
            model::check(callable_.read() == 1, "the callable is there when the body starts");
            users_code(place::destructor);
            destroy_callable();
            if (steps().claim_after_run(mine, me())) {
                users_code(place::move);
                result_.write(7);
                steps().publish(phase::succeeded);
            }
        }
        delete mine;
    }
    void cancel(cancel_mode mode) {
        if (steps().cancel(mode, me())) {
            cancelled_.fetch_add(1, std::memory_order_relaxed);
            model::check(look().is_final(), "it is done when cancel() has returned true");
        }
    }
    // Cancels while holding a lock that users' code on the runner's thread takes.
    void cancel_under_lock(cancel_mode mode, bool waits_for_the_end) {
        cancel(mode);
        if (waits_for_the_end) {
            static_cast<void>(steps().wait({}));
        }
        lock_is_free_.store(1);
        lock_.notify_all();
    }
    void set() {
        if (steps().claim_by_hand(me())) {
            result_.write(8);
            steps().publish(phase::succeeded);
        }
    }
    void get() {
        static_cast<void>(steps().wait({}));
        const phase now = look().now();
        model::check(now >= phase::succeeded, "it is final when wait() has returned");
        if (now == phase::succeeded) {
            model::check(result_.read() >= 7, "the result is there");
        }
    }
    void end() {
        const phase now = look().now();
        model::check(now >= phase::succeeded, "it is final in the end");
        model::check(callable_.read() == 0, "the callable is destroyed once");
        const int cancelled = cancelled_.load();
        model::check(cancelled == (now == phase::cancelled ? 1 : 0),
                     "one call cancelled it, if it is cancelled");
    }

private:
    using word = model::atomic<future_word>;
    using waiters = spool::basic_done_event<model::parking>;

    spool::detail::future_steps<word, waiters, future> steps() { return {word_, waiters_, *this}; }
    void users_code(place here) {
        if (takes_lock_in_ == here) {
            static_cast<void>(lock_.await([this] { return lock_is_free_.load() != 0; }, {}));
        }
    }
    static const void* me() { return reinterpret_cast<const void*>(std::uintptr_t{16} * model::self()); }

    word word_{future_word{}};
    waiters waiters_;
    model::plain<int> callable_{1};
    model::plain<int> result_{0};
    model::atomic<int> cancelled_{0};
    model::atomic<int> lock_is_free_{0};
    waiters lock_;
};

struct cancelled_while_awaited : future {
    static constexpr unsigned threads = 3;
    void thread(unsigned t) {
        switch (t) {
            case 1: run(); break;
            case 2: cancel(cancel_mode::interrupt); break;
            default: get();
        }
    }
};

struct discarded_while_awaited : future {
    static constexpr unsigned threads = 3;
    void thread(unsigned t) {
        switch (t) {
            case 1: run(); break;
            case 2: cancel(cancel_mode::let_run); break;
            default: get();
        }
    }
};

struct cancelled_twice : future {
    static constexpr unsigned threads = 3;
    void thread(unsigned t) {
        switch (t) {
            case 1: run(); break;
            case 2: cancel(cancel_mode::interrupt); break;
            default: cancel(cancel_mode::let_run);
        }
    }
};

struct set_by_hand : future {
    static constexpr unsigned threads = 3;
    void thread(unsigned t) {
        switch (t) {
            case 1: run(); break;
            case 2: set(); break;
            default: cancel(cancel_mode::interrupt);
        }
    }
};

// The callable's destructor, or the move of the result, takes a lock that the canceller holds.
template <bool InMove, bool WaitsForTheEnd>
struct cancelled_under_a_lock : future {
    static constexpr unsigned threads = 2;
    cancelled_under_a_lock() { takes_lock_in_ = InMove ? place::move : place::destructor; }
    void thread(unsigned t) {
        if (t == 1) {
            run();
        } else {
            cancel_under_lock(cancel_mode::interrupt, WaitsForTheEnd);
        }
    }
};

// Two workers try to start the body: the one that dequeued the task, and one that waits for the
// future.
struct started_twice : future {
    static constexpr unsigned threads = 3;
    void thread(unsigned t) {
        if (t < 3) {
            run();
        } else {
            get();
        }
    }
};

TEST(future_word_model, cancel_and_run_agree_and_the_waiter_learns_it) {
    model::expect_sound<cancelled_while_awaited>();
}
TEST(future_word_model, a_discarded_outcome_wakes_the_waiter_too) {
    model::expect_sound<discarded_while_awaited>();
}
TEST(future_word_model, one_of_two_cancels_wins_and_the_scope_outlives_the_interruption) {
    model::expect_sound<cancelled_twice>();
}
TEST(future_word_model, an_outcome_set_by_hand_is_written_by_one_thread) {
    model::expect_sound<set_by_hand>();
}
TEST(future_word_model, a_body_is_started_once) {
    model::expect_sound<started_twice>();
}

TEST(future_word_model, cancel_never_waits_for_users_code_of_the_runner) {
    model::expect_sound<cancelled_under_a_lock<false, false>>();
    model::expect_sound<cancelled_under_a_lock<true, false>>();
}

// ---- Planted faults

constexpr const char* steps = "future_steps.hpp";

TEST(future_word_plant, a_runner_that_does_not_look_for_an_interruption_frees_the_scope_too_early) {
    model::expect_found<cancelled_while_awaited>(
        {model::harm::no_look, steps, "future_word{phase::completing, me}.after(seen))) {"},
        "use after free");
}
TEST(future_word_plant, a_final_word_that_hands_nothing_over_is_a_race_on_the_result) {
    model::expect_found<cancelled_while_awaited>(
        {model::harm::relax, steps, "word_.store(future_word{final}"}, "data race");
}
TEST(future_word_plant, a_look_that_acquires_nothing_is_a_race_on_the_result) {
    model::expect_found<started_twice>(
        {model::harm::relax, "future_word_test.cpp", "// the look at the word"}, "data race");
}
TEST(future_word_plant, a_cancel_that_waits_for_the_end_is_a_deadlock) {
    const model::result r = model::explore<cancelled_under_a_lock<true, true>>({});
    model::print(r);
    EXPECT_NE(r.fault, "") << "the planted fault was not found";
}
TEST(future_word_plant, a_notify_left_out_is_a_lost_wake) {
    model::expect_found<cancelled_while_awaited>({model::harm::pretend, "done_event.hpp", "// N2"},
                                                 "lost wake");
}

}  // namespace
