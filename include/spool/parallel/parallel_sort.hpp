// parallel_sort and parallel_stable_sort.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <numeric>
#include <ranges>
#include <utility>
#include <vector>

#include "spool/parallel/detail/merge_sort.hpp"
#include "spool/parallel/detail/quick_sort.hpp"
#include "spool/parallel/detail/sort_run.hpp"
#include "spool/parallel/options.hpp"

namespace spool::inline v1 {

namespace detail {

template <sort_kind Kind, class It, class Less>
void sort_directly(sort_run& run, It first, It last, Less& less) {
    run.check_stop();
    // Equal integers cannot be told apart.
    using value = std::iter_value_t<It>;
    constexpr bool needs_stability =
        Kind == sort_kind::stable &&
        !(std::is_integral_v<value> && is_branchless<value, std::remove_const_t<Less>>);
    constexpr sort_kind kind = needs_stability ? sort_kind::stable : sort_kind::any_order_of_equals;
    if (sort_if_in_order<kind>(run, first, last, less)) {
        return;
    }
    if constexpr (needs_stability) {
        merge_sorter<It, Less>{run, less}.sort(first, last);
    } else {
        quick_sorter<It, Less>{run, less}.sort(first, last);
    }
}

/// Sorts references to the elements, then brings the elements into that order. For elements whose
/// moves may throw: no comparison comes after the first move, and each object stays alive.
template <sort_kind Kind, class It, class Less>
void sort_by_reference(sort_run& run, It first, It last, Less& less) {
    using difference = std::iter_difference_t<It>;
    std::vector<difference> order(static_cast<std::size_t>(last - first));
    std::iota(order.begin(), order.end(), difference{0});
    const auto by_element = [&](difference a, difference b) { return less(first[a], first[b]); };
    sort_directly<Kind>(run, order.begin(), order.end(), by_element);
    // Element i belongs where order says; each swap puts one into its place.
    for (std::size_t i = 0; i < order.size(); ++i) {
        std::size_t at = i;
        while (order[at] != static_cast<difference>(i)) {
            const auto next = static_cast<std::size_t>(order[at]);
            std::ranges::iter_swap(first + static_cast<difference>(at),
                                   first + static_cast<difference>(next));
            order[at] = static_cast<difference>(at);
            at = next;
        }
        order[at] = static_cast<difference>(at);
    }
}

template <sort_kind Kind, class It, class Comp, class Project>
void sort(thread_pool_executor& pool, It first, It last, Comp& comp, Project& project,
          const stop_options& options, const char* name) {
    if (last - first < 2) {
        return;
    }
    sort_run run{pool, options.stop, name};
    const projected_less<Comp, Project> less{comp, project};
    if constexpr (safely_movable<std::iter_value_t<It>>) {
        sort_directly<Kind>(run, first, last, less);
    } else {
        sort_by_reference<Kind>(run, first, last, less);
    }
}

}  // namespace detail

/// Sorts a range, so that comp(project(b), project(a)) is false for every b behind an a. The order
/// of equal elements is not defined.
///
///     spool::parallel_sort(pool, v);
///     spool::parallel_sort(pool, people, std::greater<>{}, &person::age);
///
/// All threads call the same `comp` and `project`, at the same time. In place: elements that can be
/// moved without an exception are moved about, and no memory is allocated but for a few words per
/// thread. For other elements the sort allocates an index each. A sorted range, and a
/// descending one, take one pass.
///
/// If `comp` or `project` throws, and after a stop, the range holds a permutation of its elements.
/// If a move or a swap throws, each object is still alive, but may be moved from. With a `comp`
/// that is no strict weak ordering the sort ends, with some permutation. See parallel_for for the
/// rest.
/// \throws std::bad_alloc; then the range holds a permutation
template <std::ranges::random_access_range Range, class Comp = std::ranges::less,
          class Project = std::identity>
    requires std::sortable<std::ranges::iterator_t<Range>, Comp, Project>
void parallel_sort(thread_pool_executor& pool, Range&& range, Comp comp = {}, Project project = {},
                   const stop_options& options = {}) {
    const auto first = std::ranges::begin(range);
    detail::sort<detail::sort_kind::any_order_of_equals>(pool, first,
                                                         std::ranges::next(first, std::ranges::end(range)),
                                                         comp, project, options, "parallel_sort");
}

/// The same, and equal elements keep their order. Allocates memory for as many elements as the
/// range has; if there is none, throws std::bad_alloc and has changed nothing.
template <std::ranges::random_access_range Range, class Comp = std::ranges::less,
          class Project = std::identity>
    requires std::sortable<std::ranges::iterator_t<Range>, Comp, Project>
void parallel_stable_sort(thread_pool_executor& pool, Range&& range, Comp comp = {}, Project project = {},
                          const stop_options& options = {}) {
    const auto first = std::ranges::begin(range);
    detail::sort<detail::sort_kind::stable>(pool, first, std::ranges::next(first, std::ranges::end(range)),
                                            comp, project, options, "parallel_stable_sort");
}

}  // namespace spool::inline v1
