// Counts allocations. For an executable that links counted_allocations.cpp, which replaces operator new.
#pragma once

#include <cstddef>

namespace test {

/// How many allocations this thread has made so far.
[[nodiscard]] std::size_t allocations() noexcept;
/// How many it has given back.
[[nodiscard]] std::size_t deallocations() noexcept;

/// How many allocations `f()` makes on this thread.
template <class F>
[[nodiscard]] std::size_t allocations_of(F f) {
    const std::size_t before = allocations();
    f();
    return allocations() - before;
}

}  // namespace test
