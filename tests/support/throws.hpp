// Checks on the text of an exception.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace test {

/// what() of the E that `f()` throws; fails the test if it throws none.
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
