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
    /// The figure of this run, in the unit of the limit.
    [[nodiscard]] double figure(const run_summary& run) const;
    [[nodiscard]] bool met(const run_summary& run) const { return figure(run) < limit; }
    /// "p99 wait 72.1 ms", "p99 total 90 ms", "0.4 % rejected"
    [[nodiscard]] std::string figure_text(const run_summary& run) const;
};

struct goal {
    std::vector<goal_part> parts;

    [[nodiscard]] bool met(const run_summary& run) const;
    /// Whether a part is about the total time, from the arrival to the end.
    [[nodiscard]] bool needs_totals() const;
    /// The figures of all parts, with commas.
    [[nodiscard]] std::string figures_text(const run_summary& run) const;
    /// How far the run is from it: 0 if met, else the sum of how much each part is over, each in proportion to its limit.
    [[nodiscard]] double distance(const run_summary& run) const;
};

/// Parts separated by commas. A part is one of
///     [class.][total.]p50|p90|p95|p99|p99.9|max < duration    waits, or total times: wait and run
///     [class.]reject|late < percent
///     threads < number
/// \throws input_error saying what was expected
[[nodiscard]] goal parse_goal(std::string_view text, const scenario& of);

}  // namespace spool::lab
