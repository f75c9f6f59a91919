// SPOOL_PAUSE_POINT: marks a step of a protocol at which another thread may interleave.
//
// In the product the macro is empty. In test builds with the CMake option SPOOL_PAUSE_POINTS it may
// hold a thread up: seldom, at random, from one yield to a millisecond. Pauses begin with a call of
// pauses::begin(), or with SPOOL_PAUSES=<seed> in the environment.
#pragma once

#if defined(SPOOL_PAUSE_POINTS)

#include <cstdint>

#include "spool/base/export.hpp"

namespace spool::inline v1::pauses {

/// Starts the pauses; a seed of zero ends them. Each thread draws random numbers derived from the
/// seed and from the order in which the threads first reach a pause point.
SPOOL_API void begin(std::uint64_t seed) noexcept;
/// How many times a thread has been held up so far.
[[nodiscard]] SPOOL_API std::uint64_t count() noexcept;
SPOOL_API void at(const char* where) noexcept;

}  // namespace spool::inline v1::pauses

#define SPOOL_PAUSE_POINT(where) ::spool::pauses::at(where)

#else

#define SPOOL_PAUSE_POINT(where) static_cast<void>(0)

#endif
