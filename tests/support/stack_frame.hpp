// with_frame: calls something from a frame of a given size, for tests of what happens when a stack gets short.
#pragma once

#include <cstddef>

namespace test {

/// Calls `f` while so many bytes of the stack are in use, and returns what it returns.
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
