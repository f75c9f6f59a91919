// precise_sleep: while it exists, timed waits of this thread end on time. By default the kernel may
// end them up to 50 us late, to combine wake-ups. A thread that sleeps for a timer turns that off.
#pragma once

namespace spool::inline v1::detail {

class precise_sleep {
public:
    precise_sleep() noexcept;
    ~precise_sleep();
    precise_sleep(const precise_sleep&) = delete;
    precise_sleep& operator=(const precise_sleep&) = delete;

private:
    int slack_before_ = 0;  // ns; 0: unchanged
};

}  // namespace spool::inline v1::detail
