#include "sync/process_fence.hpp"

namespace spool::inline v1 {

bool detail::prepare_process_fence() noexcept {
    return false;
}

bool detail::process_fence() noexcept {
    return false;
}

}  // namespace spool::inline v1
