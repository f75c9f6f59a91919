#include "spool/future/future.hpp"

namespace spool::inline v1::detail {

void throw_no_state(const char* call) {
    throw std::logic_error("future::" + std::string{call} +
                           ": this handle has no state (made without a task, or moved from)");
}

void throw_not_in_time(const char* call, const future_core& core) {
    throw timed_out("future::" + std::string{call} + ": no outcome in time; " + core.describe());
}

void throw_not_now(const char* call, const char* wanted, const future_core& core) {
    throw std::logic_error("future::" + std::string{call} + ": there is not " + wanted + "; " +
                           core.describe());
}

}  // namespace spool::inline v1::detail
