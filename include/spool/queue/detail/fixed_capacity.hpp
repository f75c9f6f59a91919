// The error of a queue kind whose capacity cannot change.
#pragma once

#include <cstddef>
#include <typeinfo>

#include "spool/base/export.hpp"

namespace spool::inline v1::detail {

/// \throws std::logic_error, always; its message names the kind and the capacity
[[noreturn]] SPOOL_API void throw_fixed_capacity(const std::type_info& kind, std::size_t capacity);

}  // namespace spool::inline v1::detail
