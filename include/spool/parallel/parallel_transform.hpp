// parallel_transform: out[i] = f(in[i]) on all threads of a pool.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>

#include "spool/parallel/detail/loop.hpp"
#include "spool/parallel/options.hpp"

namespace spool::inline v1 {

/// Assigns f(element) to out[i] for the i-th element of the range, for all i, and returns the end
/// of the output. `out` may be the begin of the range itself; otherwise the two must not overlap.
///
///     spool::parallel_transform(pool, words, lengths.begin(), [](auto& w) { return w.size(); });
///
/// If something throws, the elements of finished blocks have been assigned. See parallel_for for
/// the rest.
template <std::ranges::random_access_range Range, std::random_access_iterator Out, class F>
    requires std::ranges::sized_range<Range> &&
        std::indirectly_writable<Out, std::indirect_result_t<F&, std::ranges::iterator_t<Range>>>
            Out parallel_transform(thread_pool_executor& pool, Range&& range, Out out, F f,
                                   const loop_options& options = {}) {
        const auto first = std::ranges::begin(range);
        const auto count = static_cast<std::size_t>(std::ranges::size(range));
        detail::run_loop(pool, {count, options.grain, options.chunks, options.stop, "parallel_transform"},
                         [&](std::size_t from, std::size_t to, std::size_t) {
                             auto in = first + static_cast<std::iter_difference_t<decltype(first)>>(from);
                             Out result = out + static_cast<std::iter_difference_t<Out>>(from);
                             for (std::size_t i = from; i < to; ++i, ++in, ++result) {
                                 *result = std::invoke(f, *in);
                             }
                         });
        return out + static_cast<std::iter_difference_t<Out>>(count);
    }

/// The same for two ranges: out[i] = f(a[i], b[i]). The shorter range decides how many.
template <std::ranges::random_access_range A, std::ranges::random_access_range B,
          std::random_access_iterator Out, class F>
    requires std::ranges::sized_range<A> && std::ranges::sized_range<B> && std::indirectly_writable<
        Out, std::indirect_result_t<F&, std::ranges::iterator_t<A>, std::ranges::iterator_t<B>>>
        Out parallel_transform(thread_pool_executor& pool, A&& a, B&& b, Out out, F f,
                               const loop_options& options = {}) {
        const auto first_a = std::ranges::begin(a);
        const auto first_b = std::ranges::begin(b);
        const std::size_t count = std::min(static_cast<std::size_t>(std::ranges::size(a)),
                                           static_cast<std::size_t>(std::ranges::size(b)));
        detail::run_loop(pool, {count, options.grain, options.chunks, options.stop, "parallel_transform"},
                         [&](std::size_t from, std::size_t to, std::size_t) {
                             auto in_a =
                                 first_a + static_cast<std::iter_difference_t<decltype(first_a)>>(from);
                             auto in_b =
                                 first_b + static_cast<std::iter_difference_t<decltype(first_b)>>(from);
                             Out result = out + static_cast<std::iter_difference_t<Out>>(from);
                             for (std::size_t i = from; i < to; ++i, ++in_a, ++in_b, ++result) {
                                 *result = std::invoke(f, *in_a, *in_b);
                             }
                         });
        return out + static_cast<std::iter_difference_t<Out>>(count);
    }

}  // namespace spool::inline v1
