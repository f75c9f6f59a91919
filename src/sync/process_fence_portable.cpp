#include "sync/process_fence.hpp"

namespace spool::inline v1 {

bool detail::try_register_process_fence() noexcept {
    return false;
}

bool detail::try_process_fence() noexcept {
    return false;
}

}  // namespace spool::inline v1
