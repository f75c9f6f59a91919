// A fault that strikes at the n-th call, and the loop over every n.
#pragma once

#include <atomic>
#include <cstdio>
#include <string>

#include <gtest/gtest.h>

namespace test {

/// Counts calls while armed; the n-th one fails. Any thread may call it.
class nth_call {
public:
    void arm(int n) noexcept {
        reached_ = false;
        left_ = n;
    }
    void disarm() noexcept { left_ = 0; }
    /// True in exactly one call: the n-th since arm(n).
    [[nodiscard]] bool strikes() noexcept {
        int now = left_.load();
        while (now > 0 && !left_.compare_exchange_weak(now, now - 1)) {}
        if (now != 1) {
            return false;
        }
        reached_ = true;
        return true;
    }
    [[nodiscard]] bool reached() const noexcept { return reached_; }

private:
    std::atomic<int> left_{0};  // calls up to the one that fails; 0: disarmed
    std::atomic<bool> reached_{false};
};

/// Arms a fault, and disarms it at the end of the block, also if the block throws.
class armed {
public:
    armed(nth_call& fault, int n) noexcept : fault_(fault) { fault_.arm(n); }
    armed(const armed&) = delete;
    armed& operator=(const armed&) = delete;
    ~armed() { fault_.disarm(); }

private:
    nth_call& fault_;
};

/// Calls `scenario(n)`, which arms the fault with n, for n = 1, 2, ... until a run does not reach
/// the fault. Prints the number of points, and fails if there was none.
template <class Scenario>
void at_every_point(nth_call& fault, const std::string& what, Scenario scenario) {
    constexpr int far_too_many = 5000;
    int points = 0;
    for (int n = 1; n < far_too_many; ++n) {
        const testing::ScopedTrace trace{__FILE__, __LINE__, what + ": call " + std::to_string(n) + " fails"};
        scenario(n);
        fault.disarm();
        if (testing::Test::HasFailure()) {
            return;
        }
        if (!fault.reached()) {
            break;
        }
        ++points;
    }
    EXPECT_GT(points, 0) << what << ": nothing was tried";
    EXPECT_LT(points, far_too_many - 1) << what << ": no end in sight";
    std::printf("[  points  ] %4d  %s\n", points, what.c_str());
    testing::Test::RecordProperty("points", points);
}

}  // namespace test
