// Durations as people write them: "50ms", "1.5s".
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace spool::lab {

using std::chrono::nanoseconds;

/// Parses a number and one of ns, us, ms, s, m. Returns nothing for other text, a negative number,
/// or more than `longest_duration`.
[[nodiscard]] std::optional<nanoseconds> parse_duration(std::string_view text);

/// The same, in nanoseconds and without an upper limit.
[[nodiscard]] std::optional<double> parse_nanoseconds(std::string_view text);

/// Returns the duration times the factor, at most `longest_duration`.
[[nodiscard]] nanoseconds scaled(nanoseconds d, double factor);

/// Formats with three significant digits: "1.25 ms", "40 s". From 1000 s on, in whole seconds.
[[nodiscard]] std::string to_text(nanoseconds d);

[[nodiscard]] constexpr double seconds(nanoseconds d) noexcept {
    return static_cast<double>(d.count()) / 1e9;
}
[[nodiscard]] constexpr nanoseconds from_seconds(double s) noexcept {
    return nanoseconds{static_cast<nanoseconds::rep>(s * 1e9)};
}

}  // namespace spool::lab
