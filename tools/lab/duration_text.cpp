#include "duration_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "limits.hpp"

namespace spool::lab {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 5> units{
    {{"ns", 1.0}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}}};

}  // namespace

std::optional<double> parse_nanoseconds(std::string_view text) {
    double number = 0;
    const char* const end = text.data() + text.size();
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): `end` is the size
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || !(number >= 0)) {
        return std::nullopt;
    }
    std::string_view unit{rest, static_cast<std::size_t>(end - rest)};
    unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
    for (const auto& [name, factor] : units) {
        if (unit == name) {
            return number * factor;
        }
    }
    return std::nullopt;
}

std::optional<nanoseconds> parse_duration(std::string_view text) {
    const auto ns = parse_nanoseconds(text);
    if (!ns.has_value() || *ns > static_cast<double>(longest_duration.count())) {
        return std::nullopt;
    }
    return nanoseconds{std::llround(*ns)};
}

nanoseconds scaled(nanoseconds d, double factor) {
    const double longest = static_cast<double>(longest_duration.count());
    return nanoseconds{std::llround(std::min(static_cast<double>(d.count()) * factor, longest))};
}

std::string to_text(nanoseconds d) {
    const auto ns = static_cast<double>(d.count());
    const double size = std::abs(ns);
    if (size >= 1e12) {
        return fmt::format("{:.0f} s", ns / 1e9);
    }
    if (size >= 1e9) {
        return fmt::format("{:.3g} s", ns / 1e9);
    }
    if (size >= 1e6) {
        return fmt::format("{:.3g} ms", ns / 1e6);
    }
    if (size >= 1e3) {
        return fmt::format("{:.3g} us", ns / 1e3);
    }
    return fmt::format("{:g} {}", ns, ns == 0 ? "s" : "ns");
}

}  // namespace spool::lab
