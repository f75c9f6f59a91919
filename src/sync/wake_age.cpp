#include "spool/detail/wake_age.hpp"

#include <ctime>

namespace spool::inline v1 {

deadline::time_point coarse_now() noexcept {
#if defined(CLOCK_MONOTONIC_COARSE)
    timespec t{};
    if (clock_gettime(CLOCK_MONOTONIC_COARSE, &t) == 0) {  // the same time base as the steady clock
        return deadline::time_point{std::chrono::seconds{t.tv_sec} + std::chrono::nanoseconds{t.tv_nsec}};
    }
#endif
    return deadline::clock::now();
}

}  // namespace spool::inline v1
