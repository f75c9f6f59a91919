// A goal, as people state it: "p99<50ms,reject<0.1%".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "statistics.hpp"

namespace spool::lab {

enum class metric { p50, p90, p95, p99, p999, worst, reject, late, threads };
/// Which duration a percentile is about.
enum class span { wait, total };

/// One part: a figure that must stay below a limit.
struct goal_part {
    std::string text;  ///< as stated
    metric what = metric::p99;
    span of = span::wait;
    std::string of_class;  ///< empty: all tasks
    double limit = 0;      ///< nanoseconds, a share, or a number of threads

    [[nodiscard]] bool is_duration() const noexcept { return what < metric::reject; }
    [[nodiscard]] std::string_view metric_name() const;
    /// Returns the run's figure, in the unit of the limit.
    [[nodiscard]] double figure(const run_summary& run) const;
    [[nodiscard]] bool met(const run_summary& run) const { return figure(run) < limit; }
    /// "p99 wait 72.1 ms", "p99 total 90 ms", "0.4 % rejected"
    [[nodiscard]] std::string figure_text(const run_summary& run) const;
};

struct goal {
    std::vector<goal_part> parts;

    [[nodiscard]] bool met(const run_summary& run) const;
    /// Whether a part limits the total time, from the arrival to the end.
    [[nodiscard]] bool needs_totals() const;
    /// Returns the figures of all parts, separated by commas.
    [[nodiscard]] std::string figures_text(const run_summary& run) const;
    /// Returns how far the run misses the goal: 0 if met, else the sum over the missed parts of
    /// log(1 + figure / limit).
    [[nodiscard]] double distance(const run_summary& run) const;
};

/// Parses parts separated by commas. A part is one of
///     [class.][total.]p50|p90|p95|p99|p99.9|max < duration    the wait, or total: wait plus run
///     [class.]reject|late < percent
///     threads < number
/// \throws input_error that says what was expected
[[nodiscard]] goal parse_goal(std::string_view text, const scenario& of);

}  // namespace spool::lab
