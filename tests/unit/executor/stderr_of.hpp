// Captures what a part of a test writes to stderr.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace test {

/// Runs `f` and returns what all threads wrote to stderr meanwhile. `f` must not throw.
template <class F>
[[nodiscard]] std::string stderr_of(F f) noexcept {
    testing::internal::CaptureStderr();
    f();
    std::fflush(stderr);
    return testing::internal::GetCapturedStderr();
}

}  // namespace test
