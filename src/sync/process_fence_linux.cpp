#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sync/process_fence.hpp"

namespace spool::inline v1 {
namespace {

bool membarrier(int command) noexcept {
    return syscall(SYS_membarrier, command, 0, 0) == 0;
}

}  // namespace

bool detail::prepare_process_fence() noexcept {
    return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

bool detail::process_fence() noexcept {
    // A forked child may have to register again.
    return membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) ||
           (prepare_process_fence() && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED));
}

}  // namespace spool::inline v1
