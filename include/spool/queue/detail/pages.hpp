// Memory for the segments of queues: whole pages, returned to the system as soon as they are freed.
#pragma once

#include <cstddef>

#include "spool/base/export.hpp"

namespace spool::inline v1::detail {

inline constexpr std::size_t page_size = 4096;

/// Returns zeroed memory, aligned to a page; where possible not from the heap. A heap keeps freed
/// memory below its last block, and the last block of a drained queue is its newest segment.
/// \throws std::bad_alloc
[[nodiscard]] SPOOL_API void* allocate_pages(std::size_t bytes);
SPOOL_API void free_pages(void* at, std::size_t bytes) noexcept;
/// Gives the memory back but keeps the addresses. Every byte then reads as 0, or is unchanged where
/// the system cannot do it.
SPOOL_API void discard_pages(void* at, std::size_t bytes) noexcept;

}  // namespace spool::inline v1::detail
