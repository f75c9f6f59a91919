// Checks on the text of an exception.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace test {

/// Returns what() of the E that `f()` throws; fails the test if `f()` throws no E.
template <class E, class F>
std::string what_of(F f) {
    try {
        f();
    } catch (const E& e) {
        return e.what();
    }
    ADD_FAILURE() << "expected an exception, none was thrown";
    return {};
}

}  // namespace test
