// with_frame: makes a call from a stack frame of a given size, for tests with little stack left.
#pragma once

#include <cstddef>

namespace test {

/// Calls `f` with at least `Bytes` of the stack in use, and returns its result.
template <std::size_t Bytes, class F>
[[gnu::noinline]] auto with_frame(F f) {
    volatile char frame[Bytes];
    frame[0] = 1;
    frame[Bytes - 1] = 1;
    auto result = f();
    static_cast<void>(frame[0]);
    return result;
}

}  // namespace test
