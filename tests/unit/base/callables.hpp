// One callable for each way in which a task stores callables.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "support/tracked.hpp"

namespace test {

/// Counts its calls; `life` counts its instances.
struct inline_callable {
    inline_callable(std::atomic<int>& alive, int& counter) : life(alive), calls(&counter) {}
    void operator()() const { ++*calls; }

    tracked life;
    int* calls;
};

/// Too large for inline storage.
struct large_callable : inline_callable {
    using inline_callable::inline_callable;
    std::array<std::byte, 40> padding{};
};

/// Small, but aligned more strictly than a task.
struct alignas(32) over_aligned_callable : inline_callable {
    using inline_callable::inline_callable;
};

/// Small, but its move may throw.
struct throwing_move_callable : inline_callable {
    using inline_callable::inline_callable;
    throwing_move_callable(const throwing_move_callable& other) noexcept(false) = default;
};

}  // namespace test
