#include "schedule/precise_sleep.hpp"

namespace spool::inline v1::detail {

precise_sleep::precise_sleep() noexcept = default;
precise_sleep::~precise_sleep() {
    static_cast<void>(slack_before_);
}

}  // namespace spool::inline v1::detail
