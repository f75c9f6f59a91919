// SPOOL_PAUSE_POINT: a step of a protocol at which another thread may come in between.
//
// In the product it is nothing at all. In builds with the CMake option SPOOL_PAUSE_POINTS, which are for tests alone, a thread may be held up
// there: seldom, at random, from a mere yield up to a millisecond, once pauses::begin() was called or if the environment says
// SPOOL_PAUSES=<seed>.
#pragma once

#if defined(SPOOL_PAUSE_POINTS)

#include <cstdint>

#include "spool/base/export.hpp"

namespace spool::inline v1::pauses {

/// From now on threads pause, by dice that come from the seed and the order in which the threads first come to a pause point. Zero: they
/// pause no more.
SPOOL_API void begin(std::uint64_t seed) noexcept;
/// How many times a thread was held up so far.
[[nodiscard]] SPOOL_API std::uint64_t count() noexcept;
SPOOL_API void at(const char* where) noexcept;

}  // namespace spool::inline v1::pauses

#define SPOOL_PAUSE_POINT(where) ::spool::pauses::at(where)

#else

#define SPOOL_PAUSE_POINT(where) static_cast<void>(0)

#endif
