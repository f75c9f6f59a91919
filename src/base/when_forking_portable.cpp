// For systems without fork().
#include "base/when_forking.hpp"

namespace spool::inline v1 {

bool when_forking(void (*)(), void (*)(), void (*)()) noexcept {
    return false;
}

long process_id() noexcept {
    return 0;
}

}  // namespace spool::inline v1
