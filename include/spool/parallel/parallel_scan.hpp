// parallel_inclusive_scan and parallel_exclusive_scan: running totals.
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
#include "spool/parallel/options.hpp"

namespace spool::inline v1 {

namespace detail {

enum class scan_kind { inclusive, exclusive };

/// Scans `count` elements that come after the total `sum`; none: they are the first. Returns the
/// total behind them.
template <scan_kind Kind, class T, class In, class Out, class Op>
std::optional<T> scan_block(In in, std::size_t count, Out out, std::optional<T> sum, Op& op) {
    for (std::size_t i = 0; i < count; ++i, ++in, ++out) {
        T next = sum ? T(std::invoke(op, *sum, T(*in))) : T(*in);
        if constexpr (Kind == scan_kind::exclusive) {
            *out = *std::move(sum);
            sum.emplace(std::move(next));
        } else {
            sum.emplace(std::move(next));
            *out = *sum;
        }
    }
    return sum;
}

template <scan_kind Kind, class T, class In, class Out, class Op>
Out scan(thread_pool_executor& pool, In first, std::size_t count, Out out, std::optional<T> init, Op& op,
         const loop_options& options) {
    const auto in_at = [&](std::size_t i) { return first + static_cast<std::iter_difference_t<In>>(i); };
    const auto out_at = [&](std::size_t i) { return out + static_cast<std::iter_difference_t<Out>>(i); };
    const std::size_t participants = loop_participants(pool);
    const std::size_t grain = options.grain != 0 ? options.grain : 2048;
    // Every element costs two operations on several threads, and one on this thread alone.
    const std::size_t most = participants < 3 ? 1 : 8 * participants;
    const std::size_t blocks =
        options.chunks != 0 ? std::clamp<std::size_t>(options.chunks, 1, std::max<std::size_t>(count, 1))
                            : std::clamp<std::size_t>(count / grain, 1, most);
    const auto begin_of = [&](std::size_t b) { return b * (count / blocks) + std::min(b, count % blocks); };
    if (blocks == 1) {
        loop{pool,
             {count, grain, 0, options.stop, "parallel_scan"},
             1,
             [&](std::size_t from, std::size_t to, std::size_t) {
                 init = scan_block<Kind>(in_at(from), to - from, out_at(from), std::move(init), op);
             }}
            .run();
        return out_at(count);
    }
    // First the total of each block but the last, then the totals before each block, then scans.
    std::vector<std::optional<T>> before(blocks);
    run_loop(pool, {blocks - 1, 0, 0, options.stop, "parallel_scan"},
             [&](std::size_t from, std::size_t to, std::size_t) {
                 for (std::size_t b = from; b < to; ++b) {
                     std::size_t i = begin_of(b);
                     T sum(*in_at(i));
                     for (++i; i < begin_of(b + 1); ++i) {
                         sum = std::invoke(op, std::move(sum), T(*in_at(i)));
                     }
                     before[b + 1].emplace(std::move(sum));
                 }
             });
    before.front() = std::move(init);
    for (std::size_t b = 1; b < blocks; ++b) {
        if (before[b - 1]) {
            before[b].emplace(std::invoke(op, *before[b - 1], *std::move(before[b])));
        }
    }
    run_loop(pool, {blocks, 0, 0, options.stop, "parallel_scan"},
             [&](std::size_t from, std::size_t to, std::size_t) {
                 for (std::size_t b = from; b < to; ++b) {
                     scan_block<Kind>(in_at(begin_of(b)), begin_of(b + 1) - begin_of(b), out_at(begin_of(b)),
                                      std::move(before[b]), op);
                 }
             });
    return out_at(count);
}

}  // namespace detail

/// out[i] = x0 op ... op xi. Returns the end of the output.
///
///     spool::parallel_inclusive_scan(pool, values, totals.begin());
///
/// `op` must be associative, as in parallel_reduce; it need not be commutative. `out` may be the
/// begin of the range. With fewer than three threads there is nothing to gain, since two threads
/// would call `op` twice as often as one, and the scan runs on this thread. `options.chunks` cuts
/// the range into that many blocks whatever the number of threads.
///
/// If something throws, part of the output may have been assigned. See parallel_for for the rest.
template <std::ranges::random_access_range Range, std::random_access_iterator Out, class Op = std::plus<>>
    requires std::ranges::sized_range<Range> && std::copyable<std::ranges::range_value_t<Range>> Out
    parallel_inclusive_scan(thread_pool_executor& pool, Range&& range, Out out, Op op = {},
                            const loop_options& options = {}) {
        using value = std::ranges::range_value_t<Range>;
        return detail::scan<detail::scan_kind::inclusive, value>(
            pool, std::ranges::begin(range), static_cast<std::size_t>(std::ranges::size(range)), out,
            std::nullopt, op, options);
    }

/// out[i] = init op x0 op ... op x(i-1), so out[0] = init. Returns the end of the output. See
/// parallel_inclusive_scan for the rest.
template <std::ranges::random_access_range Range, std::random_access_iterator Out, std::copyable T,
          class Op = std::plus<>>
    requires std::ranges::sized_range<Range> Out parallel_exclusive_scan(thread_pool_executor& pool,
                                                                         Range&& range, Out out, T init,
                                                                         Op op = {},
                                                                         const loop_options& options = {}) {
        return detail::scan<detail::scan_kind::exclusive, T>(
            pool, std::ranges::begin(range), static_cast<std::size_t>(std::ranges::size(range)), out,
            std::optional<T>{std::move(init)}, op, options);
    }

}  // namespace spool::inline v1
