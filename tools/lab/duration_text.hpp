// Durations as people write them: "50ms", "1.5s".
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace spool::lab {

using std::chrono::nanoseconds;

/// A number and one of ns, us, ms, s, m; nothing if it is something else, negative, or too long to count.
[[nodiscard]] std::optional<nanoseconds> parse_duration(std::string_view text);

/// The same in nanoseconds, however long.
[[nodiscard]] std::optional<double> parse_nanoseconds(std::string_view text);

/// The duration times the factor, and at most `longest_duration`.
[[nodiscard]] nanoseconds scaled(nanoseconds d, double factor);

/// Short, with three digits that count: "1.25 ms", "40 s".
[[nodiscard]] std::string to_text(nanoseconds d);

[[nodiscard]] constexpr double seconds(nanoseconds d) noexcept {
    return static_cast<double>(d.count()) / 1e9;
}
[[nodiscard]] constexpr nanoseconds from_seconds(double s) noexcept {
    return nanoseconds{static_cast<nanoseconds::rep>(s * 1e9)};
}

}  // namespace spool::lab
