// future_word: the state of a future, in one atomic word. Only this file packs its bits.
//
//     63                                      4     3     2   0
//    +-----------------------------------------+-------+-------+
//    | who: idle: 0, a pool, or `held`         | taken | phase |
//    |      running: the task_scope of the run |       |       |
//    |      completing: a thread               |       |       |
//    +-----------------------------------------+-------+-------+
//
// THE LIFE OF A FUTURE
//
//                    run()                          outcome                  written
//          idle ----------------> running ------------------> completing ---------------> succeeded
//           |  ^  run_and_reset()  |    |                          ^     \--------------> failed
//           |  +-------------------+    | cancel(interrupt)        |     \--------------> cancelled
//           |                      |    v                          |
//           |     cancel(let_run)  | interrupting --> cancelled    |
//           |                      +----------------> cancelled    |
//           +------------------------------------------------------+
//             cancel() or set_*() before the start: the callable is destroyed first
//
// The runner destroys the callable while the word still says `running`, and only then claims
// `completing`. So a cancel() in that window still cancels. A cancel() that sees `completing`
// returns false at once: callable destructors and result moves are user code, and cancel() never
// waits for user code on another thread.
//
// Transitions: any thread may move the word out of `idle` and `running`, by compare-exchange. Only
// the thread that moved the word to `completing` or `interrupting` moves it on, with a plain store.
// `succeeded`, `failed` and `cancelled` are final.
//
// I1: Only the thread that moved the word to `completing` writes the outcome. No thread reads the
//     outcome before a final phase.
// I2: While the word says `running` or `interrupting`, the scope of the running body is alive.
//     The runner leaves the scope only after it moved the word out of `running` itself, or saw a
//     final phase.
// I3: The thread that moves the word from `idle` to `completing` destroys the callable. Otherwise
//     the runner destroys it, after the last run of the body and before it tries to claim.
// I4: While the word says `completing`, get() and wait() may sleep. No other call waits for the
//     completing thread. `interrupting` lasts for a few library instructions, and cancel() and
//     the runner may wait for its end.
//
// WHO MAY START AN IDLE FUTURE
//
// A worker that waits for an unstarted task of its own pool runs the task itself. So two workers
// may want to start one body: the worker that polls the queue entry, and the worker that waits.
// One compare-exchange on this word decides.
//
//               try_publish(P)                      try_start(), by the worker that polled
//    idle, free --------------> idle, open to P ---------------------------------> running
//        ^      publish_late(P)    |  |  |   try_claim(P), by a worker of P that waits
//        +-------------------------+  |  +-----------> idle, held, taken --------> running, taken
//             try_withdraw()          |  try_hold()                        start()
//                                     +--------------> idle, held ---------------> running
//                                                                          start()
//
// free: no waiting worker may claim it. Its task may be in a queue all the same, for example if it
// has a due time; the worker that polls the task then starts it. open to P: the task is in P's
// queue, or about to enter it. held: a thread has the task in hand. The holder of a task may
// withdraw, hold, publish or start it from each of the three, which the drawing leaves out.
//
// C1: Only try_claim() sets `taken`, only from `open to P`, for a worker of P. The bit stays set in
//     every later phase.
// C2: `taken` makes the entry in P's queue stale: a waiter runs or ran the body. A step of the
//     thread that took the entry out fails with `stale` exactly if the bit is set. If it fails
//     with `done`, the future was cancelled, completed by hand, or started by another thread. The
//     entry then counts as run.
// C3: One word decides, so no task that was handed back is claimed, and no claimed task is handed
//     back.
#pragma once

#include <cstdint>

namespace spool::inline v1::detail {

enum class phase : std::uintptr_t {
    idle,          ///< not started
    running,       ///< the body runs in the scope that the word names
    interrupting,  ///< cancel() is about to mark that scope as stopped
    completing,    ///< the thread that the word names writes the outcome
    succeeded,     ///< the outcome is a value
    failed,        ///< the outcome is an exception
    cancelled,     ///< there is neither value nor exception
};

class future_word {
public:
    /// idle, free
    constexpr future_word() noexcept = default;
    constexpr explicit future_word(phase p) noexcept : bits_(static_cast<std::uintptr_t>(p)) {}
    future_word(phase p, const void* who) noexcept
        : bits_(reinterpret_cast<std::uintptr_t>(who) | static_cast<std::uintptr_t>(p)) {}
    [[nodiscard]] static future_word open_to(const void* pool) noexcept { return {phase::idle, pool}; }
    [[nodiscard]] static future_word held() noexcept { return future_word{held_mark}; }
    [[nodiscard]] static future_word held_and_taken() noexcept { return future_word{held_mark | taken}; }
    /// This word, with the `taken` bit of `before`: a later phase of the same future (C1).
    [[nodiscard]] future_word after(future_word before) const noexcept {
        return future_word{bits_ | (before.bits_ & taken)};
    }

    [[nodiscard]] phase now() const noexcept { return static_cast<phase>(bits_ & phase_mask); }
    template <class Who>
    [[nodiscard]] Who* who() const noexcept {
        static_assert(alignof(Who) > (phase_mask | taken));
        return reinterpret_cast<Who*>(bits_ & ~(phase_mask | taken));
    }
    /// Precondition: the word is neither held nor past idle. Null: free.
    [[nodiscard]] const void* pool() const noexcept { return reinterpret_cast<const void*>(bits_); }
    [[nodiscard]] bool is_held() const noexcept { return (bits_ & ~taken) == held_mark; }
    [[nodiscard]] bool is_taken() const noexcept { return (bits_ & taken) != 0; }
    [[nodiscard]] bool is_final() const noexcept { return now() >= phase::succeeded; }
    friend bool operator==(future_word, future_word) noexcept = default;

private:
    constexpr explicit future_word(std::uintptr_t bits) noexcept : bits_(bits) {}

    static constexpr std::uintptr_t phase_mask = 7;
    static constexpr std::uintptr_t taken = 8;
    static constexpr std::uintptr_t held_mark = 16;  // no pool's address
    std::uintptr_t bits_ = 0;
};

}  // namespace spool::inline v1::detail
