// For systems without fork().
#include "base/fork_handlers.hpp"

namespace spool::inline v1 {

bool try_register_fork_handlers(void (*)(), void (*)(), void (*)()) noexcept {
    return false;
}

long process_id() noexcept {
    return 0;
}

}  // namespace spool::inline v1
