// gate: what tests wait on. It uses a plain mutex and a condition variable, so that no code under
// test takes part.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "support/delays.hpp"

namespace test {

/// Closed until open() is called, then open for good.
class gate {
public:
    void open() {
        const std::lock_guard lock{mutex_};
        open_ = true;
        changed_.notify_all();
    }
    [[nodiscard]] bool is_open() const {
        const std::lock_guard lock{mutex_};
        return open_;
    }
    /// Waits without limit: for tasks that must block.
    void wait() const {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [this] { return open_; });
    }
    /// Waits for the long delay: for checks. False means that something is broken.
    [[nodiscard]] bool opens() const { return opens_within(long_delay()); }
    [[nodiscard]] bool opens_within(std::chrono::nanoseconds d) const {
        std::unique_lock lock{mutex_};
        return changed_.wait_for(lock, d, [this] { return open_; });
    }

private:
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    bool open_ = false;
};

/// Opens the gate when the scope ends, also after a failed check, so that no thread stays blocked.
class open_at_end {
public:
    explicit open_at_end(gate& g) : gate_(g) {}
    open_at_end(const open_at_end&) = delete;
    open_at_end& operator=(const open_at_end&) = delete;
    ~open_at_end() { gate_.open(); }

private:
    gate& gate_;
};

}  // namespace test
