// backoff: waits for another thread that is about to finish a step.
#pragma once

#include <chrono>
#include <thread>

namespace spool::inline v1 {

/// For waits that normally last a few instructions of another thread: pauses, then yields, then
/// sleeps. If the other thread has lost its CPU, the sleep lets it run, whatever the priorities.
///
///     for (backoff pause; !done.load(std::memory_order_acquire);) {
///         pause();
///     }
class backoff {
public:
    void operator()() noexcept {
        if (rounds_ < spins) {
            relax();
        } else if (rounds_ < spins + yields) {
            std::this_thread::yield();
        } else {
            std::this_thread::sleep_for(std::chrono::microseconds{50});
            return;
        }
        ++rounds_;
    }

    /// Tells the CPU that this thread spins.
    static void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        asm volatile("yield");
#endif
    }

    /// Pauses and yields for a few microseconds, so that other threads get ahead, including threads
    /// that wait for this CPU.
    static void yield_briefly() noexcept {
        for (const auto until = std::chrono::steady_clock::now() + brief;
             std::chrono::steady_clock::now() < until;) {
            relax();
            std::this_thread::yield();
        }
    }

private:
    static constexpr unsigned spins = 32;
    static constexpr unsigned yields = 256;
    static constexpr std::chrono::microseconds brief{8};

    unsigned rounds_ = 0;
};

}  // namespace spool::inline v1
