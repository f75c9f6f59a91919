// The distance at which two threads do not disturb each other.
#pragma once

#include <cstddef>

namespace spool::inline v1 {

/// What two threads write often is kept this far apart. A constant of ours, because the standard library's may change
/// with the compiler's flags, and with it the layout of public types.
inline constexpr std::size_t cache_line = 64;

}  // namespace spool::inline v1
