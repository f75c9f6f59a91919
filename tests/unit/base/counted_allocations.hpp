// Counts allocations. An executable that uses it must link counted_allocations.cpp, which replaces
// operator new.
#pragma once

#include <cstddef>

namespace test {

/// How many allocations this thread has made so far.
[[nodiscard]] std::size_t allocations() noexcept;
/// How many deallocations this thread has made so far.
[[nodiscard]] std::size_t deallocations() noexcept;

/// How many allocations `f()` makes on this thread.
template <class F>
[[nodiscard]] std::size_t allocations_of(F f) {
    const std::size_t before = allocations();
    f();
    return allocations() - before;
}

}  // namespace test
