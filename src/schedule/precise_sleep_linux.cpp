#include <sys/prctl.h>

#include "schedule/precise_sleep.hpp"

namespace spool::inline v1::detail {

precise_sleep::precise_sleep() noexcept {
    const int slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    if (slack > 1 && prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0) == 0) {
        slack_before_ = slack;
    }
}

precise_sleep::~precise_sleep() {
    if (slack_before_ != 0) {
        prctl(PR_SET_TIMERSLACK, slack_before_, 0, 0, 0);
    }
}

}  // namespace spool::inline v1::detail
