// index_range: the arithmetic of loops over integers, without overflow.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "spool/base/export.hpp"

namespace spool::inline v1::detail {

/// Throws std::invalid_argument "<origin>: ...".
[[noreturn]] SPOOL_API void throw_negative_index(const char* origin);

/// How many integers first <= i < last there are; 0 if last < first.
/// \throws std::invalid_argument if the common type cannot represent `first`
template <std::integral First, std::integral Last>
[[nodiscard]] constexpr std::size_t index_count(First first, Last last, const char* origin) {
    using index = std::common_type_t<First, Last>;
    if (!std::cmp_less(first, last)) {
        return 0;
    }
    if constexpr (std::is_signed_v<First> && std::is_unsigned_v<index>) {
        if (first < 0) {
            throw_negative_index(origin);
        }
    }
    // Modulo 2^64, so a range from below zero to above has the right length, too.
    return static_cast<std::size_t>(static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first));
}

/// start + offset, where the sum is an index of the range or the one behind its last.
template <std::integral Index>
[[nodiscard]] constexpr Index index_at(Index start, std::size_t offset) noexcept {
    return static_cast<Index>(static_cast<std::uint64_t>(start) + offset);
}

}  // namespace spool::inline v1::detail
