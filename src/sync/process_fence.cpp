#include "sync/process_fence.hpp"

#if defined(__linux__)
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace spool::inline v1 {
namespace {

#if defined(__linux__)
constexpr int use = MEMBARRIER_CMD_PRIVATE_EXPEDITED;
constexpr int enrol = MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED;
bool try_membarrier(int command) noexcept {
    return syscall(SYS_membarrier, command, 0, 0) == 0;
}
#else
constexpr int use = 0;
constexpr int enrol = 0;
bool try_membarrier(int) noexcept {
    return false;
}
#endif

}  // namespace

bool detail::try_register_process_fence() noexcept {
    return try_membarrier(enrol);
}

bool detail::try_process_fence() noexcept {
    // A forked child may have to register again.
    return try_membarrier(use) || (try_register_process_fence() && try_membarrier(use));
}

}  // namespace spool::inline v1
