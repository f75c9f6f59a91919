// submit_blocks and submit_loop: loops that do not wait.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "spool/executor/submit.hpp"
#include "spool/future/future.hpp"
#include "spool/parallel/detail/index_range.hpp"
#include "spool/parallel/detail/loop.hpp"
#include "spool/parallel/options.hpp"
#include "spool/parallel/parallel_for.hpp"
#include "spool/pool/thread_pool_executor.hpp"

namespace spool::inline v1 {

namespace detail {

/// How many blocks a submitted loop has, if the options do not say: a few per thread, since blocks
/// that are queued cannot be divided any more.
[[nodiscard]] inline std::size_t submitted_blocks(std::size_t count, const loop_options& options) {
    const std::size_t grain = std::max<std::size_t>(options.grain, 1);
    const std::size_t wanted = options.chunks != 0 ? options.chunks : 4 * loop_cpus();
    return std::min(wanted, std::max<std::size_t>(count / grain, count != 0 ? 1 : 0));
}

/// The first index of a block.
template <class Index>
[[nodiscard]] Index block_begin(Index start, std::size_t count, std::size_t blocks, std::size_t b) noexcept {
    return index_at(start, b * (count / blocks) + std::min(b, count % blocks));
}

}  // namespace detail

/// Submits f(begin, end) for blocks that together are the range, and returns a future for each, in
/// the order of the range. Returns no future for an empty or reversed range.
///
///     std::vector<spool::future<double>> sums = spool::submit_blocks(pool, 0, n, sum_of);
///
/// The blocks have equal sizes, and there are `options.chunks` of them, or four for each CPU. With
/// a `grain` each has at least that many elements. `f` is copied once and shared by all blocks,
/// which call it at the same time; it is destroyed with the last of them. A stop by `options.stop`
/// cancels each future, as submit() with a token does.
///
/// Any executor will do. If execute() throws (rejected_execution, ...), the blocks that were
/// submitted are cancelled, and the exception is thrown.
/// \throws what execute() throws; std::invalid_argument as parallel_for; std::bad_alloc; what
/// copying `f` throws
template <std::integral First, std::integral Last, class F>
    requires std::invocable < std::decay_t<F>
&, std::common_type_t<First, Last>, std::common_type_t < First,
    Last >> [[nodiscard]] auto submit_blocks(executor& where, First first, Last last, F&& f,
                                             const loop_options& options = {}) {
    using index = std::common_type_t<First, Last>;
    using result = std::invoke_result_t<std::decay_t<F>&, index, index>;
    const std::size_t count = detail::index_count(first, last, "submit_blocks");
    const std::size_t blocks = detail::submitted_blocks(count, options);
    std::vector<future<result>> futures;
    if (blocks == 0) {
        return futures;
    }
    const auto shared = std::make_shared<std::decay_t<F>>(std::forward<F>(f));
    futures.reserve(blocks);
    try {
        for (std::size_t b = 0; b < blocks; ++b) {
            const index from = detail::block_begin(static_cast<index>(first), count, blocks, b);
            const index to = detail::block_begin(static_cast<index>(first), count, blocks, b + 1);
            futures.push_back(submit(where, options.stop, [shared, from, to]() -> result {
                return std::invoke(*shared, from, to);
            }));
        }
    } catch (...) {
        for (future<result>& one : futures) {
            one.cancel();
        }
        throw;
    }
    return futures;
}

/// Submits one task that runs parallel_for(pool, first, last, f, options), and returns its future.
/// It delivers the first exception of `f`. cancel(), and a stop by `options.stop`, stop the loop
/// before its next block, and the future is cancelled.
///
///     spool::future<void> all = spool::submit_loop(pool, 0, n, [](std::size_t i) { ... });
///
/// `f` is copied once, and all threads call that copy. The pool must live until the loop has ended,
/// as it does for every task: its destructor waits.
/// \throws what execute() throws; std::invalid_argument as parallel_for; what copying `f` throws
template <std::integral First, std::integral Last, class F>
    requires std::invocable < std::decay_t<F>
&, std::common_type_t < First,
    Last >> [[nodiscard]] future<void> submit_loop(thread_pool_executor& pool, First first, Last last, F&& f,
                                                   const loop_options& options = {}) {
    static_cast<void>(detail::index_count(first, last, "submit_loop"));
    return submit(pool, options.stop,
                  [&pool, first, last, body = std::decay_t<F>(std::forward<F>(f)), options]() mutable {
                      parallel_for(pool, first, last, body, options);
                  });
}

}  // namespace spool::inline v1
