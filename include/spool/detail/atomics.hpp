// std_atomics: the atomics, locks and barriers that the protocols use. The protocol templates take
// it as a parameter. So the models in tests/model run the same source text with primitives that
// explore every interleaving. Only the models pass another type.
#pragma once

#include <atomic>
#include <chrono>

#include "spool/detail/backoff.hpp"
#include "spool/detail/mutex.hpp"
#include "spool/sync/barrier.hpp"

namespace spool::inline v1::detail {

struct std_atomics {
    template <class T>
    using atomic = std::atomic<T>;
    using mutex = detail::mutex;
    using lock_guard = detail::lock_guard;
    using backoff = spool::backoff;

    static void light_barrier() noexcept { spool::light_barrier(); }
    static void heavy_barrier() noexcept { spool::heavy_barrier(); }
    static auto now() noexcept { return std::chrono::steady_clock::now(); }
};

}  // namespace spool::inline v1::detail
