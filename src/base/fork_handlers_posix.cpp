#include <pthread.h>
#include <unistd.h>

#include "base/fork_handlers.hpp"

namespace spool::inline v1 {

bool try_register_fork_handlers(void (*before)(), void (*in_parent)(), void (*in_child)()) noexcept {
    return ::pthread_atfork(before, in_parent, in_child) == 0;
}

long process_id() noexcept {
    return ::getpid();
}

}  // namespace spool::inline v1
