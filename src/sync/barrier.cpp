#include "spool/sync/barrier.hpp"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "sync/process_fence.hpp"

namespace spool::inline v1 {
namespace {

constinit std::atomic<unsigned> fence_word{0};
constinit std::atomic<bool> uses_process_fence{false};

// Unused where every barrier is symmetric, as under ThreadSanitizer.
[[maybe_unused]] bool are_full_fences_requested() noexcept {
    const char* const text = std::getenv("SPOOL_FULL_FENCES");
    return text != nullptr && *text != '\0' && std::strcmp(text, "0") != 0;
}

// Waits at least a thousand times longer than any CPU keeps a store to itself.
void wait_for_store_buffers() noexcept {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds{10};
    while (std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_until(until);  // a sandbox may refuse this too; then the loop spins
    }
}

// Steps H1 to H3 of barrier.hpp. Takes no lock: a forked child could find the lock held.
[[gnu::cold, gnu::noinline]] void fall_back_to_full_fences() noexcept {
    const int reason = errno;
    detail::heavy_barrier_reaches_all.store(false);  // H1
    detail::visible_fence();
    wait_for_store_buffers();                  // H2
    if (uses_process_fence.exchange(false)) {  // H3
        std::fprintf(stderr,
                     "spool: membarrier worked when this process began and is refused now (%s); "
                     "queues use full fences from here on\n",
                     std::strerror(reason));
    }
    detail::visible_fence();
}

}  // namespace

constinit std::atomic<bool> detail::heavy_barrier_reaches_all{false};

void detail::visible_fence() noexcept {
    fence_word.fetch_add(1);
}

void prepare_barriers() noexcept {
#if !defined(SPOOL_SYMMETRIC_BARRIERS)
    [[maybe_unused]] static const bool initialized = [] {
        const bool is_available = !are_full_fences_requested() && detail::try_register_process_fence();
        uses_process_fence.store(is_available);
        detail::heavy_barrier_reaches_all.store(is_available);
        return is_available;
    }();
#endif
}

void heavy_barrier() noexcept {
    detail::visible_fence();  // for this thread
    if (uses_process_fence.load() && !detail::try_process_fence()) [[unlikely]] {
        fall_back_to_full_fences();
    }
}

}  // namespace spool::inline v1
