// What a pool tells about itself: readings.
#pragma once

#include <vector>

#include "pool/pool.hpp"
#include "spool/pool/pool_reading.hpp"

namespace spool::inline v1 {

namespace detail {

/// Also lets the period of the samples follow the rate.
[[nodiscard]] pool_reading reading_of(pool& p);
[[nodiscard]] std::vector<worker_reading> workers_of(const pool& p);

}  // namespace detail

}  // namespace spool::inline v1
