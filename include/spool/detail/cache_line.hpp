// cache_line: the distance that prevents false sharing.
#pragma once

#include <cstddef>

namespace spool::inline v1 {

/// Data that different threads write often is kept this many bytes apart. This is a constant of our
/// own: the value of std::hardware_destructive_interference_size may change with compiler flags,
/// and would change the layout of public types.
inline constexpr std::size_t cache_line = 64;

}  // namespace spool::inline v1
