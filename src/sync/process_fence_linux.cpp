#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sync/process_fence.hpp"

namespace spool::inline v1 {
namespace {

bool try_membarrier(int command) noexcept {
    return syscall(SYS_membarrier, command, 0, 0) == 0;
}

}  // namespace

bool detail::try_register_process_fence() noexcept {
    return try_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

bool detail::try_process_fence() noexcept {
    // A forked child may have to register again.
    return try_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) ||
           (try_register_process_fence() && try_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED));
}

}  // namespace spool::inline v1
