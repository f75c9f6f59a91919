// How a kind of queue refuses to change its capacity.
#pragma once

#include <cstddef>
#include <typeinfo>

#include "spool/base/export.hpp"

namespace spool::inline v1::detail {

/// \throws std::logic_error, always: it names the kind and its capacity
[[noreturn]] SPOOL_API void throw_fixed_capacity(const std::type_info& kind, std::size_t capacity);

}  // namespace spool::inline v1::detail
