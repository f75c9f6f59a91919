// future_steps: the transitions of a future's word, and the wake-ups that belong to them. A
// template over the word and its waiters, so that the models in tests/model run this very text.
// future_core owns the objects.
#pragma once

#include "spool/detail/pause_point.hpp"
#include "spool/future/detail/future_word.hpp"
#include "spool/sync/wait_limits.hpp"

namespace spool::inline v1 {

/// What cancel() does to a running body.
enum class cancel_mode {
    interrupt,  ///< requests its stop
    let_run,    ///< lets it run to its end; its outcome is discarded
};

namespace detail {

/// What a thread that wants to act on an idle future gets.
enum class claim {
    mine,   ///< the caller may act
    stale,  ///< a waiter has claimed the body, and the caller's queue entry is stale
    done,   ///< the future was cancelled, completed or started by another thread
};

/// Who may start an idle future: see the second drawing in future_word.hpp. Word: an atomic
/// future_word. Each step is one compare-exchange that decides, or none. All but try_claim() belong
/// to the thread that has the task.
template <class Word>
class future_claim {
public:
    explicit future_claim(Word& word) noexcept : word_(word) {}

    /// Lets waiting workers of `pool` claim the body. False: a waiter has claimed it already.
    [[nodiscard]] bool try_publish(const void* pool) noexcept {
        return move_idle(word_.load(), future_word::open_to(pool)) != claim::stale;
    }
    /// The same for a task that is in the queue already. No effect unless the future is free.
    void publish_late(const void* pool) noexcept {
        future_word free;
        SPOOL_PAUSE_POINT("future: about to be published late");
        word_.compare_exchange_strong(free, future_word::open_to(pool));
    }
    /// Ends the publication. False: a waiter has claimed the body.
    [[nodiscard]] bool try_withdraw() noexcept {
        return move_idle(word_.load(), future_word{}) != claim::stale;
    }
    /// A waiting worker of `pool` claims the body.
    [[nodiscard]] bool try_claim(const void* pool) noexcept {
        future_word open = future_word::open_to(pool);
        SPOOL_PAUSE_POINT("future: about to be claimed by a waiter");
        return word_.compare_exchange_strong(open, future_word::held_and_taken());
    }
    /// Afterwards no waiter can claim the body: the caller runs it, drops it or hands it back.
    [[nodiscard]] claim try_hold() noexcept { return move_idle(word_.load(), future_word::held()); }
    /// try_hold() and start() in one, for a worker of `pool` that has polled the task.
    [[nodiscard]] claim try_start(const void* pool, const void* scope) noexcept {
        return move_idle(future_word::open_to(pool), future_word{phase::running, scope});
    }
    /// For a thread that needs no claim, or has made one. True: the caller must run the body.
    [[nodiscard]] bool start(const void* scope) noexcept {
        for (future_word seen = future_word::held(); seen.now() == phase::idle;) {
            SPOOL_PAUSE_POINT("future: about to run");
            if (word_.compare_exchange_strong(seen, future_word{phase::running, scope}.after(seen))) {
                return true;
            }
        }
        return false;
    }

private:
    // `seen`: the word, or a guess at it.
    claim move_idle(future_word seen, future_word to) noexcept {
        while (seen != to) {
            if (seen.is_taken()) {
                return claim::stale;  // C2
            }
            if (seen.now() != phase::idle) {
                return claim::done;
            }
            SPOOL_PAUSE_POINT("future: about to change hands");
            if (word_.compare_exchange_strong(seen, to)) {
                return claim::mine;
            }
        }
        return claim::mine;
    }

    Word& word_;
};

/// Word: an atomic future_word. Waiters: a done_event. `me` names the calling thread.
/// Host: the future that owns both. It has
///     look()              loads the word, seq_cst
///     destroy_callable()  see I3
///     cancelled_before_start()  called when cancel() wins before the start
///     interrupt(word)     marks the scope named in the word as stopped
///     ends_here(word)     true if the body has ended in the scope named in the word, and this very
///                         thread is destroying the callable
template <class Word, class Waiters, class Host>
class future_steps {
public:
    future_steps(Word& word, Waiters& waiters, Host& host) noexcept
        : word_(word), waiters_(waiters), host_(host) {}

    /// running -> idle, so that the body can run again.
    [[nodiscard]] bool start_over(const void* scope) noexcept {
        future_word running{phase::running, scope};
        SPOOL_PAUSE_POINT("future: about to be run again");
        return word_.compare_exchange_strong(running, future_word{phase::idle});
    }
    /// running -> completing, by the runner. Precondition: the runner has destroyed the callable
    /// (I3). False: another thread decided the outcome, and no longer touches the scope.
    [[nodiscard]] bool claim_after_run(const void* scope, const void* me) noexcept {
        // relaxed, owner: the bit `taken` is as it was when this thread started the body
        future_word seen = future_word{phase::running, scope}.after(word_.load(std::memory_order_relaxed));
        SPOOL_PAUSE_POINT("future: about to complete");
        if (word_.compare_exchange_strong(seen, future_word{phase::completing, me}.after(seen))) {
            return true;
        }
        if (seen.now() == phase::interrupting) {
            // The canceller is between its two steps; the scope must outlive the second (I2).
            static_cast<void>(wait({}));
        }
        return false;
    }
    /// idle or running -> completing, by any thread. On success the callable is destroyed, unless
    /// the body is running.
    [[nodiscard]] bool claim_by_hand(const void* me) noexcept {
        for (;;) {
            const future_word seen = host_.look();
            if ((seen.now() != phase::idle && seen.now() != phase::running) || host_.ends_here(seen)) {
                return false;
            }
            if (claim_from(seen, me)) {
                return true;
            }
        }
    }
    /// True if this call cancelled the future; the caller must then call the callbacks. False: the
    /// future is final, another thread is writing the outcome, or the callable's destructor makes
    /// this call after the run.
    [[nodiscard]] bool cancel(cancel_mode mode, const void* me) {
        for (;;) {
            const future_word seen = host_.look();
            switch (seen.now()) {
                case phase::idle:
                    if (claim_from(seen, me)) {
                        host_.cancelled_before_start();
                        publish(phase::cancelled);
                        return true;
                    }
                    break;  // another thread moved the word: look again
                case phase::running:
                    if (host_.ends_here(seen)) {
                        return false;
                    }
                    if (cancel_running(seen, mode)) {
                        return true;
                    }
                    break;
                case phase::interrupting:
                    static_cast<void>(wait({}));  // library code only (I4); then it is final
                    return false;
                case phase::completing:  // perhaps in users' code (I4)
                case phase::succeeded:
                case phase::failed:
                case phase::cancelled: return false;
            }
        }
    }
    /// completing or interrupting -> final, by the thread that moved the word there.
    void publish(phase final) noexcept {
        SPOOL_PAUSE_POINT("future: has its outcome");
        // relaxed, owner: only this thread moves the word on, and no thread sets `taken` any more
        const future_word before = word_.load(std::memory_order_relaxed);
        word_.store(future_word{final}.after(before));  // hands the outcome to readers
        waiters_.notify_all();                          // pair (S), see wait()
    }
    [[nodiscard]] wait_result wait(const wait_limits& limits) {
        // pair (S): publish() and cancel_running() write the word seq_cst, look() reads it seq_cst
        return waiters_.await([this] { return host_.look().is_final(); }, limits);
    }

private:
    // idle or running -> completing. `seen` must say idle or running.
    bool claim_from(future_word seen, const void* me) noexcept {
        SPOOL_PAUSE_POINT("future: about to be cancelled");
        if (!word_.compare_exchange_strong(seen, future_word{phase::completing, me}.after(seen))) {
            return false;
        }
        if (seen.now() == phase::idle) {
            host_.destroy_callable();  // I3
        }
        return true;
    }
    bool cancel_running(future_word seen, cancel_mode mode) {
        if (mode == cancel_mode::let_run) {
            SPOOL_PAUSE_POINT("future: about to be cancelled while it runs");
            if (!word_.compare_exchange_strong(seen, future_word{phase::cancelled}.after(seen))) {
                return false;
            }
            waiters_.notify_all();  // pair (S), see wait()
            return true;
        }
        SPOOL_PAUSE_POINT("future: about to be interrupted");
        if (!word_.compare_exchange_strong(seen, future_word{phase::interrupting}.after(seen))) {
            return false;
        }
        // Until publish(), the runner does not leave its scope (I2).
        host_.interrupt(seen);
        publish(phase::cancelled);
        return true;
    }

    Word& word_;
    Waiters& waiters_;
    Host& host_;
};

}  // namespace detail
}  // namespace spool::inline v1
