#include "spool/queue/blocking_queue.hpp"

#include <stdexcept>
#include <string>

#include "base/type_name.hpp"

namespace spool::inline v1::detail {

void throw_fixed_capacity(const std::type_info& kind, std::size_t capacity) {
    const bool limited = capacity != blocking_queue<task>::unlimited;
    throw std::logic_error(readable_type_name(kind.name()) +
                           "::set_capacity: the capacity of this kind is fixed (" +
                           (limited ? std::to_string(capacity) : "unlimited") + ")");
}

}  // namespace spool::inline v1::detail
