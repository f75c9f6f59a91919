// parallel_for: a loop on all threads of a pool, the caller included.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include "spool/parallel/detail/index_range.hpp"
#include "spool/parallel/detail/loop.hpp"
#include "spool/parallel/options.hpp"

namespace spool::inline v1 {

/// Calls f(i) for every index first <= i < last, on the workers of the pool and on this thread.
///
///     spool::parallel_for(pool, 0, n, [&](std::size_t i) { y[i] += a * x[i]; });
///
/// What holds for every parallel_* function:
///
/// - It returns when `f` has returned for every element. What the calls did is visible then. The
///   order of the calls is not defined, and calls run at the same time.
/// - The caller takes part. While it waits for other threads to finish their last blocks, it runs
///   only work of this loop, and of loops and groups that were started inside the loop. It never
///   runs another task.
/// - A loop of a few microseconds runs on this thread alone. So does one in a pool that is full,
///   shut down or cannot start a thread. A loop inside a loop, or inside a task, needs no free
///   worker, so nested loops work in a pool of one.
/// - If `f` throws, no thread begins another block, and the first exception is rethrown when all
///   calls under way have ended.
/// - A stop throws interrupted, unless `f` has run for every element by then: a stop by
///   `options.stop`, or one of the task that calls the loop. Each thread checks it before each
///   block. If `f` threw too, the exception of `f` wins.
/// - shutdown() lets the loop go on. shutdown_now() stops a loop that a task of the pool called. A
///   loop that another thread called is finished by that thread.
/// - `f` is not copied. All threads call the same object.
///
/// An empty range does nothing, and throws nothing. A reversed range (last < first) is empty.
/// The two indices may have different types; `f` gets their common type.
/// \throws what `f` throws; interrupted; std::invalid_argument if `first` is negative and the
/// common type unsigned; cancelled in a forked child process, if the loop was under way
template <std::integral First, std::integral Last, class F>
    requires std::invocable<F&, std::common_type_t<First, Last>>
void parallel_for(thread_pool_executor& pool, First first, Last last, F&& f,
                  const loop_options& options = {}) {
    using index = std::common_type_t<First, Last>;
    const std::size_t count = detail::index_count(first, last, "parallel_for");
    const auto start = static_cast<index>(first);
    detail::run_loop(pool, {count, options.grain, options.chunks, options.stop, "parallel_for"},
                     [&f, start](std::size_t from, std::size_t to, std::size_t) {
                         for (std::size_t i = from; i < to; ++i) {
                             std::invoke(f, detail::index_at(start, i));
                         }
                     });
}

/// Calls f(*it) for every iterator first <= it < last. Iterators that are not random access are
/// first walked through on this thread, which allocates.
///
/// As with a standard algorithm, `last` must be reachable from `first`.
/// \throws also what the iterators throw; std::bad_alloc
template <std::forward_iterator It, std::sentinel_for<It> End, class F>
    requires std::invocable<F&, std::iter_reference_t<It>>
void parallel_for(thread_pool_executor& pool, It first, End last, F&& f, const loop_options& options = {}) {
    if constexpr (std::random_access_iterator<It> && std::sized_sentinel_for<End, It>) {
        using difference = std::iter_difference_t<It>;
        const auto count = static_cast<std::size_t>(last - first);
        detail::run_loop(pool, {count, options.grain, options.chunks, options.stop, "parallel_for"},
                         [&](std::size_t from, std::size_t to, std::size_t) {
                             It it = first + static_cast<difference>(from);
                             for (std::size_t i = from; i < to; ++i, ++it) {
                                 std::invoke(f, *it);
                             }
                         });
    } else {
        std::vector<It> elements;
        for (It it = first; it != last; ++it) {
            elements.push_back(it);
        }
        detail::run_loop(pool, {elements.size(), options.grain, options.chunks, options.stop, "parallel_for"},
                         [&](std::size_t from, std::size_t to, std::size_t) {
                             for (std::size_t i = from; i < to; ++i) {
                                 std::invoke(f, *elements[i]);
                             }
                         });
    }
}

/// Calls f(element) for every element of a range.
template <std::ranges::forward_range Range, class F>
    requires std::invocable<F&, std::ranges::range_reference_t<Range>>
void parallel_for(thread_pool_executor& pool, Range&& range, F&& f, const loop_options& options = {}) {
    parallel_for(pool, std::ranges::begin(range), std::ranges::end(range), f, options);
}

/// Calls f(begin, end) for blocks that together are the range: for bodies that begin with something
/// expensive, or that are faster in one call. Each block has at least one element.
///
///     spool::parallel_for_blocks(pool, 0, n, [&](std::size_t b, std::size_t e) { ... });
///
/// See parallel_for for the rest, and loop_options for the sizes of the blocks.
template <std::integral First, std::integral Last, class F>
    requires std::invocable<F&, std::common_type_t<First, Last>, std::common_type_t<First, Last>>
void parallel_for_blocks(thread_pool_executor& pool, First first, Last last, F&& f,
                         const loop_options& options = {}) {
    using index = std::common_type_t<First, Last>;
    const std::size_t count = detail::index_count(first, last, "parallel_for_blocks");
    const auto start = static_cast<index>(first);
    detail::run_loop(pool, {count, options.grain, options.chunks, options.stop, "parallel_for_blocks"},
                     [&f, start](std::size_t from, std::size_t to, std::size_t) {
                         std::invoke(f, detail::index_at(start, from), detail::index_at(start, to));
                     });
}

/// The same for random-access iterators: f(It begin, It end).
template <std::random_access_iterator It, std::sized_sentinel_for<It> End, class F>
    requires std::invocable<F&, It, It>
void parallel_for_blocks(thread_pool_executor& pool, It first, End last, F&& f,
                         const loop_options& options = {}) {
    using difference = std::iter_difference_t<It>;
    const auto count = static_cast<std::size_t>(last - first);
    detail::run_loop(pool, {count, options.grain, options.chunks, options.stop, "parallel_for_blocks"},
                     [&](std::size_t from, std::size_t to, std::size_t) {
                         std::invoke(f, first + static_cast<difference>(from),
                                     first + static_cast<difference>(to));
                     });
}

}  // namespace spool::inline v1
