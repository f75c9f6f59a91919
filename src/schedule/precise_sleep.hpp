// precise_sleep: while it lives, timed waits of this thread end when they should. The kernel lets them end up to 50 us late, to wake
// for several at once; a thread that sleeps for a timer does without.
#pragma once

namespace spool::inline v1::detail {

class precise_sleep {
public:
    /// Does nothing unless `wanted`.
    explicit precise_sleep(bool wanted) noexcept;
    ~precise_sleep();
    precise_sleep(const precise_sleep&) = delete;
    precise_sleep& operator=(const precise_sleep&) = delete;

private:
    int slack_before_ = 0;  // ns; 0: unchanged
};

}  // namespace spool::inline v1::detail
