#include "pool/threads/stack_room.hpp"

namespace spool::inline v1 {

stack_room stack_room::of_this_thread() noexcept {
    return {};
}

}  // namespace spool::inline v1
