#include <pthread.h>
#include <unistd.h>

#include "base/when_forking.hpp"

namespace spool::inline v1 {

bool when_forking(void (*before)(), void (*in_parent)(), void (*in_child)()) noexcept {
    return ::pthread_atfork(before, in_parent, in_child) == 0;
}

long process_id() noexcept {
    return ::getpid();
}

}  // namespace spool::inline v1
