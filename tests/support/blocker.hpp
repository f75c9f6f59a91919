// blocker: tasks that block until the test releases them.
#pragma once

#include <atomic>

#include "support/eventually.hpp"
#include "support/gate.hpp"

namespace test {

/// Makes tasks that block until release() and ignore stop requests. Declare it before the executor.
class blocker {
public:
    [[nodiscard]] auto body() {
        return [this] {
            ++entered_;
            way_out_.wait();
            ++left_;
        };
    }
    /// Waits until exactly `n` of the tasks block.
    [[nodiscard]] bool holds(int n) const {
        return eventually([&] { return entered_ - left_ == n; });
    }
    void release() { way_out_.open(); }
    [[nodiscard]] int entered() const { return entered_; }
    [[nodiscard]] int left() const { return left_; }

private:
    gate way_out_;
    std::atomic<int> entered_{0};
    std::atomic<int> left_{0};
};

}  // namespace test
