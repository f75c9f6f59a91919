// Who starts a queued future: the worker that polls its entry, or a worker that waits for it, while
// another thread cancels it and shutdown_now() hands its task back. The steps of future_steps.hpp.
#include "model/explorer/atomics.hpp"
#include "model/report.hpp"
#include "spool/detail/done_event.hpp"
#include "spool/future/detail/future_steps.hpp"

namespace {

using spool::cancel_mode;
using spool::detail::claim;
using spool::detail::future_word;
using spool::detail::phase;

struct alignas(16) scope {};

// A pool with one entry in its queue: the task of a future.
class queued_future {
public:
    // ---- The host of future_steps
    [[nodiscard]] future_word look() { return word_.load(); }
    void destroy_callable() { callable_.write(callable_.read() - 1); }
    void cancelled_before_start() {}
    [[nodiscard]] static bool ends_here(future_word) { return false; }
    void interrupt(future_word) {}

    // ---- What the threads do
    void poll() {
        if (!dequeue()) {
            return;
        }
        auto* const mine = new scope;
        const claim how = claims().try_start(pool(), mine);
        if (how == claim::mine) {
            run_body(*mine);
        }
        settle(how, counted_);
        delete mine;
    }
    // A worker of a pool with hooks: the hook comes between the claim and the start.
    void poll_with_hook() {
        if (!dequeue()) {
            return;
        }
        const claim how = claims().try_hold();
        if (how == claim::mine) {
            run();
        }
        settle(how, counted_);
    }
    void wait_and_run() {
        if (claims().try_claim(pool())) {
            stale_.fetch_add(1);
            run();
        }
        static_cast<void>(steps().wait({}));
    }
    void cancel() {
        if (steps().cancel(cancel_mode::let_run, me())) {
            model::check(look().is_final(), "it is done when cancel() has returned true");
        }
    }
    void shut_down_now() {
        if (!dequeue()) {
            return;
        }
        const claim how = claims().try_hold();
        settle(how, handed_back_);
        if (how == claim::mine) {
            // The caller of shutdown_now() destroys the task. No waiter may run the body meanwhile.
            model::check(runs_.load() == 0, "no body of a handed back task has run");
            cancel();
        }
    }
    // A refused task is withdrawn, and its submitter runs it.
    void withdraw_and_run() {
        if (claims().try_withdraw()) {
            withdrawn_.store(1);
            run();
        } else {
            stale_.fetch_sub(1);
        }
    }
    // The entry came into the queue before the future was published.
    void publish_late() { claims().publish_late(pool()); }

    void end() {
        const future_word now = look();
        model::check(now.is_final(), "it is final in the end");
        model::check(callable_.read() == 0, "the callable is destroyed once");
        model::check(runs_.load() <= 1, "the body runs once at most");
        model::check(stale_.load() == 0, "who claims adds a stale entry, who removes it lowers the count");
    }

protected:
    explicit queued_future(future_word begin) : word_(begin) {}
    static const void* pool() { return reinterpret_cast<const void*>(std::uintptr_t{4096}); }

private:
    using word = model::atomic<future_word>;
    using waiters = spool::basic_done_event<model::parking>;

    spool::detail::future_claim<word> claims() { return spool::detail::future_claim<word>{word_}; }
    spool::detail::future_steps<word, waiters, queued_future> steps() { return {word_, waiters_, *this}; }
    bool dequeue() { return queued_.exchange(0) == 1; }
    void settle(claim how, model::atomic<int>& otherwise) {
        if (how == claim::stale) {
            stale_.fetch_sub(1);
        } else {
            otherwise.fetch_add(1, std::memory_order_relaxed);
        }
    }
    void run() {
        auto* const mine = new scope;
        if (claims().start(mine)) {
            run_body(*mine);
        }
        delete mine;
    }
    void run_body(scope& mine) {
        runs_.fetch_add(1);
        model::check(callable_.read() == 1, "the callable is there when the body starts");
        destroy_callable();
        if (steps().claim_after_run(&mine, me())) {
            steps().publish(phase::succeeded);
        }
    }
    static const void* me() { return reinterpret_cast<const void*>(std::uintptr_t{32} * model::self()); }

    word word_;
    waiters waiters_;
    model::plain<int> callable_{1};
    model::atomic<int> queued_{1};
    model::atomic<int> stale_{0};
    model::atomic<int> runs_{0};
    model::atomic<int> counted_{0};
    model::atomic<int> handed_back_{0};
    model::atomic<int> withdrawn_{0};
};

struct published : queued_future {
    published() : queued_future(future_word::open_to(pool())) {}
};

// At the end of each, one thread removes the entry: the queue of a pool does not outlive the pool.
struct polled_and_awaited : published {
    static constexpr unsigned threads = 3;
    void thread(unsigned t) {
        switch (t) {
            case 1: poll(); break;
            case 2: wait_and_run(); break;
            default: cancel();
        }
    }
};

struct polled_with_hooks : published {
    static constexpr unsigned threads = 3;
    void thread(unsigned t) {
        switch (t) {
            case 1: poll_with_hook(); break;
            case 2: wait_and_run(); break;
            default: cancel();
        }
    }
};

struct handed_back : published {
    static constexpr unsigned threads = 3;
    void thread(unsigned t) {
        switch (t) {
            case 1: poll(); break;
            case 2: wait_and_run(); break;
            default: shut_down_now();
        }
    }
};

struct handed_back_and_cancelled : published {
    static constexpr unsigned threads = 3;
    void thread(unsigned t) {
        switch (t) {
            case 1: wait_and_run(); break;
            case 2: cancel(); break;
            default: shut_down_now();
        }
    }
};

struct handed_back_while_awaited : published {
    static constexpr unsigned threads = 2;
    void thread(unsigned t) {
        if (t == 1) {
            wait_and_run();
        } else {
            shut_down_now();
        }
    }
};

struct withdrawn_while_awaited : published {
    static constexpr unsigned threads = 2;
    void thread(unsigned t) {
        if (t == 1) {
            wait_and_run();
        } else {
            withdraw_and_run();
        }
    }
};

struct published_late : queued_future {
    static constexpr unsigned threads = 3;
    published_late() : queued_future(future_word{}) {}
    void thread(unsigned t) {
        switch (t) {
            case 1: poll_with_hook(); break;
            case 2: wait_and_run(); break;
            default: publish_late(); cancel();
        }
    }
};

TEST(future_claim_model, the_poller_or_the_waiter_starts_the_body_and_the_stale_count_agrees) {
    model::expect_sound<polled_and_awaited>();
    model::expect_sound<polled_with_hooks>();
}
TEST(future_claim_model, shutdown_now_hands_back_only_what_no_thread_runs) {
    model::expect_sound<handed_back>();
    model::expect_sound<handed_back_and_cancelled>();
    model::expect_sound<handed_back_while_awaited>();
}
TEST(future_claim_model, a_refused_task_is_withdrawn_or_claimed_never_both) {
    model::expect_sound<withdrawn_while_awaited>();
}
TEST(future_claim_model, a_late_publication_opens_nothing_that_a_worker_holds) {
    model::expect_sound<published_late>();
}

// ---- Planted faults

constexpr const char* steps = "future_steps.hpp";
constexpr std::uint64_t held = 16;

TEST(future_claim_plant, a_final_word_without_the_mark_of_the_claim_leaves_a_stale_entry_counted) {
    model::expect_found<polled_and_awaited>({model::harm::pretend, steps, "const future_word before =", 0},
                                            "who claims adds a stale entry");
}
TEST(future_claim_plant, a_hold_that_ignores_an_open_future_hands_back_what_a_waiter_runs) {
    model::expect_found<handed_back_while_awaited>(
        {model::harm::pretend, steps, "claim try_hold() noexcept", held}, "handed back task has run");
}
TEST(future_claim_plant, a_publication_that_ignores_the_holder_lets_two_threads_start) {
    model::expect_found<withdrawn_while_awaited>(
        {model::harm::pretend, steps, "return move_idle(word_.load(), future_word{}) != claim::stale;", 0},
        "who claims adds a stale entry");
}

}  // namespace
