#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

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

void detail::process_fence() noexcept {
    if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) [[likely]] {
        return;
    }
    // A process that was forked off may have to register anew. Without the fence nothing that relies on it would be safe.
    if (!prepare_process_fence() || !membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) {
        std::perror("spool: membarrier, which worked when this process began, fails now");
        std::abort();
    }
}

}  // namespace spool::inline v1
