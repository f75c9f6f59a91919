// tracked: counts its live instances, so that a leak or a double destruction fails a test.
#pragma once

#include <atomic>

namespace test {

/// For use as a member of a callable. `alive` returns to its old value when every copy is gone.
class tracked {
public:
    explicit tracked(std::atomic<int>& alive) : alive_(&alive) { ++*alive_; }
    tracked(const tracked& other) noexcept : alive_(other.alive_) { ++*alive_; }
    tracked& operator=(const tracked&) = delete;
    ~tracked() { --*alive_; }

private:
    std::atomic<int>* alive_;
};

}  // namespace test
