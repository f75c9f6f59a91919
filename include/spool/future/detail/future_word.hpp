// future_word: the state of a future, in one atomic word. Only this file packs its bits.
//
//     63                                    3 2     0
//    +---------------------------------------+-------+
//    | who: the task_scope that runs the     | phase |
//    | body, or the thread that completes    |       |
//    +---------------------------------------+-------+
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
// I4: While the word says `completing`, only threads that wait for the outcome itself wait.
//     `interrupting` lasts for a few library instructions, and cancel() may wait for its end.
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
    constexpr future_word() noexcept = default;
    constexpr explicit future_word(phase p) noexcept : bits_(static_cast<std::uintptr_t>(p)) {}
    future_word(phase p, const void* who) noexcept
        : bits_(reinterpret_cast<std::uintptr_t>(who) | static_cast<std::uintptr_t>(p)) {}

    [[nodiscard]] phase now() const noexcept { return static_cast<phase>(bits_ & mask); }
    template <class Who>
    [[nodiscard]] Who* who() const noexcept {
        static_assert(alignof(Who) > mask);
        return reinterpret_cast<Who*>(bits_ & ~mask);
    }
    [[nodiscard]] bool is_final() const noexcept { return now() >= phase::succeeded; }
    friend bool operator==(future_word, future_word) noexcept = default;

private:
    static constexpr std::uintptr_t mask = 7;
    std::uintptr_t bits_ = 0;
};

}  // namespace spool::inline v1::detail
