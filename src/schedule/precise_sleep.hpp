// precise_sleep: while it exists, timed waits of this thread end on time. By default the kernel may
// end them up to 50 us late, to combine wake-ups. A thread that sleeps for a timer turns that off.
#pragma once

#if defined(__linux__)
#include <sys/prctl.h>
#endif

namespace spool::inline v1::detail {

class precise_sleep {
public:
    precise_sleep(const precise_sleep&) = delete;
    precise_sleep& operator=(const precise_sleep&) = delete;
#if defined(__linux__)
    precise_sleep() noexcept {
        const int slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
        if (slack > 1 && prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0) == 0) {
            slack_before_ = slack;
        }
    }
    ~precise_sleep() {
        if (slack_before_ != 0) {
            prctl(PR_SET_TIMERSLACK, slack_before_, 0, 0, 0);
        }
    }

private:
    int slack_before_ = 0;  // ns; 0: unchanged
#else
    precise_sleep() noexcept {}  // not defaulted: an unused variable of the type is not a mistake
#endif
};

}  // namespace spool::inline v1::detail
