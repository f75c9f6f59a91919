// The largest numbers that the lab accepts. They keep a typing error from exhausting memory, and
// times from overflowing.
#pragma once

#include <chrono>
#include <cstddef>

namespace spool::lab {

inline constexpr double highest_rate = 1'000'000;      ///< tasks per second of one source
inline constexpr double most_submissions = 5'000'000;  ///< of a whole scenario, retries included
inline constexpr std::size_t largest_burst = 1'000'000;
inline constexpr double largest_service_factor = 1000;
inline constexpr double largest_sigma = 10;   ///< of a log-normal service time
inline constexpr double largest_share = 1e6;  ///< of a class; only proportions count

inline constexpr std::chrono::nanoseconds longest_run = std::chrono::hours{6};
inline constexpr std::chrono::nanoseconds longest_service = std::chrono::hours{24};
/// The limit of every other duration, such as a keep-alive; about thirty years.
inline constexpr std::chrono::nanoseconds longest_duration = std::chrono::seconds{1'000'000'000};

/// A linked queue allocates as it grows, an array queue allocates everything at once.
inline constexpr std::size_t longest_linked_queue = 100'000'000;
inline constexpr std::size_t longest_array_queue = 1'000'000;

}  // namespace spool::lab
