// future_word: where a future is in its life, in one atomic word. The only file that packs its bits.
//
//     63                                    3 2     0
//    +---------------------------------------+-------+
//    | who: the task_scope that runs the     | phase |
//    | body, or the thread that completes    |       |
//    +---------------------------------------+-------+
//
//                    run()                          outcome                   written
//          idle ----------------> running ------------------> completing ----------------> succeeded
//           |  ^  run_and_reset()  |    |                          ^     \---------------> failed
//           |  +-------------------+    | cancel(interrupt)        |     \---------------> cancelled
//           |                      |    v                          |
//           |     cancel(let_run)  | interrupting --> cancelled    |
//           |                      +----------------> cancelled    |
//           +------------------------------------------------------+
//             cancel() or set_*() before the start: the callable is destroyed first
//
// The runner destroys the callable while the word still says `running`, and only then claims `completing`. So a cancel() that comes
// meanwhile still cancels. A cancel() that sees `completing` returns false at once: destructors of callables and moves of results are
// users' code, and cancel() never waits for users' code of another thread.
//
// Who may move it: out of `idle` and `running` anybody, by compare-exchange; out of `completing` and `interrupting` only the
// thread that moved it there, with a plain store. The last three are final.
//
// I1: only the thread that moved the word to `completing` writes the outcome; nobody reads it before a final phase.
// I2: while the word says `running` or `interrupting`, the scope named in it lives: the runner leaves only after it moved
//     the word out of `running` itself, or saw a final phase.
// I3: the callable is destroyed by the runner if the body ever started, before it tries to claim; else by the thread that completes.
// I4: nobody waits while the word says `completing`, but for those who wait for the outcome itself. `interrupting` lasts for a few
//     instructions of the library, and cancel() may wait for its end.
#pragma once

#include <cstdint>

namespace spool::inline v1::detail {

enum class phase : std::uintptr_t {
    idle,          ///< not started
    running,       ///< the body runs, in the scope named beside
    interrupting,  ///< cancel() is about to mark that scope stopped
    completing,    ///< the outcome is being written, by the thread named beside
    succeeded,     ///< there is a value
    failed,        ///< there is an exception
    cancelled,     ///< there will be neither
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
