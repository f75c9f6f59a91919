// parallel_reduce: combines all elements of a range with an associative operation.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <ranges>
#include <utility>
#include <vector>

#include "spool/parallel/detail/loop.hpp"
#include "spool/parallel/detail/partial_results.hpp"
#include "spool/parallel/options.hpp"

namespace spool::inline v1 {

/// Returns init op x0 op x1 op ..., where each x is T(project(element)).
///
///     double sum = spool::parallel_reduce(pool, floats, 0.0);
///     double norm = spool::parallel_reduce(pool, floats, 0.0, std::plus<>{},
///                                          [](float v) { return double{v} * v; });
///
/// `op` takes two T and returns a T. It must be associative: it is called on neighbours, in any
/// grouping. It need not be commutative: the order of the operands is always that of the range, and
/// `init` comes first, once. With an operation that is not quite associative, such as an addition
/// of floating-point numbers, the result may differ between two calls, unless
/// `options.deterministic` is set.
///
/// Ranges that are not random access are walked through by this thread alone. An empty range
/// gives `init`. If something throws, `init` and partial results are destroyed. See parallel_for
/// for the rest.
template <std::ranges::forward_range Range, std::movable T, class Op = std::plus<>,
          class Project = std::identity>
    requires std::constructible_from<T,
                                     std::invoke_result_t<Project&, std::ranges::range_reference_t<Range>>> &&
        std::is_invocable_r_v<T, Op&, T, T>
[[nodiscard]] T parallel_reduce(thread_pool_executor& pool, Range&& range, T init, Op op = {},
                                Project project = {}, const reduce_options& options = {}) {
    const auto first = std::ranges::begin(range);
    using iterator = std::remove_const_t<decltype(first)>;
    if constexpr (std::random_access_iterator<iterator> && std::ranges::sized_range<Range>) {
        const auto count = static_cast<std::size_t>(std::ranges::size(range));
        const auto reduce = [&](std::size_t from, std::size_t to) {
            return detail::reduce_block<T>(first + static_cast<std::iter_difference_t<iterator>>(from),
                                           to - from, op, project);
        };
        if (options.deterministic) {
            return detail::reduce_by_tree<T>(pool, count, std::move(init), op, reduce, options);
        }
        const std::size_t participants = detail::loop_participants(pool);
        detail::partial_results<T, Op> results{op, participants};
        detail::loop{pool,
                     {count, options.grain, 0, options.stop, "parallel_reduce"},
                     participants,
                     [&](std::size_t from, std::size_t to, std::size_t participant) {
                         results.add(participant, from, to, reduce(from, to));
                     }}
            .run();
        return results.combine(std::move(init));
    } else {
        std::optional<T> sum{std::move(init)};
        const std::size_t all = static_cast<std::size_t>(std::ranges::distance(range));
        iterator it = first;
        // On this thread, but with the same checks for a stop.
        detail::loop{pool,
                     {all, options.grain, 0, options.stop, "parallel_reduce"},
                     1,
                     [&](std::size_t from, std::size_t to, std::size_t) {
                         for (std::size_t i = from; i < to; ++i, ++it) {
                             sum.emplace(std::invoke(op, std::move(*sum), T(std::invoke(project, *it))));
                         }
                     }}
            .run();
        return *std::move(sum);
    }
}

}  // namespace spool::inline v1
