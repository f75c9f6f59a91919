// Memory for the segments of queues: whole pages, given back to the system as soon as they are freed.
#pragma once

#include <cstddef>

#include "spool/base/export.hpp"

namespace spool::inline v1::detail {

inline constexpr std::size_t page = 4096;

/// Zeroed memory, aligned to a page. A heap keeps what is freed below its last block, and the last block of a
/// drained queue is its youngest segment; hence not the heap. \throws std::bad_alloc
[[nodiscard]] SPOOL_API void* allocate_pages(std::size_t bytes);
SPOOL_API void free_pages(void* at, std::size_t bytes) noexcept;
/// Gives the memory back and keeps the addresses: every byte reads as 0 from now on, or as it was
/// where the system cannot do it.
SPOOL_API void discard_pages(void* at, std::size_t bytes) noexcept;

}  // namespace spool::inline v1::detail
