// backoff: waiting for another thread that is about to finish its step.
#pragma once

#include <chrono>
#include <thread>

namespace spool::inline v1 {

/// For waits that last a few instructions of another thread, unless that one has lost its CPU in between: pauses, then yields, then
/// sleeps, so that it gets one whatever the priorities.
///
///     for (backoff pause; !done.load(std::memory_order_acquire);) {
///         pause();
///     }
class backoff {
public:
    void operator()() noexcept {
        if (turns_ < spins) {
            relax();
        } else if (turns_ < spins + yields) {
            std::this_thread::yield();
        } else {
            std::this_thread::sleep_for(std::chrono::microseconds{50});
            return;
        }
        ++turns_;
    }

    /// Tells the CPU that this thread only waits.
    static void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        asm volatile("yield");
#endif
    }

private:
    static constexpr unsigned spins = 32;
    static constexpr unsigned yields = 256;

    unsigned turns_ = 0;
};

}  // namespace spool::inline v1
