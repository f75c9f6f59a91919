// A small number for each thread, to spread counters with.
#pragma once

#include <atomic>

namespace spool::inline v1::detail {

inline std::atomic<unsigned> threads_numbered{0};          // publishes nothing
inline constinit thread_local unsigned thread_number = 0;  // 0: none yet

/// 0, 1, 2 ... in the order in which threads first ask.
[[nodiscard]] inline unsigned stripe() noexcept {
    if (thread_number == 0) {
        thread_number = threads_numbered.fetch_add(1, std::memory_order_relaxed) + 1;  // relaxed, statistic
    }
    return thread_number - 1;
}

}  // namespace spool::inline v1::detail
