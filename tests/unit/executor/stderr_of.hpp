// What a piece of a test writes on stderr.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace test {

/// Runs `f` and returns what was written on stderr meanwhile, by any thread. `f` must not throw.
template <class F>
[[nodiscard]] std::string stderr_of(F f) noexcept {
    testing::internal::CaptureStderr();
    f();
    std::fflush(stderr);
    return testing::internal::GetCapturedStderr();
}

}  // namespace test
