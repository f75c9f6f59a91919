// Options of the parallel loops and algorithms.
#pragma once

#include <cstddef>
#include <stop_token>

namespace spool::inline v1 {

/// How a parallel loop divides its range, and what stops it.
///
///     spool::parallel_for(pool, 0, n, f, {.grain = 64, .stop = token});
///
/// By default nobody has to choose: the caller begins alone and times its first blocks, a loop of a
/// few microseconds never leaves the caller, and later blocks get as long as their time allows.
struct loop_options {
    /// Every block begins at a multiple of `grain` (counted from the first element) and has a
    /// multiple of `grain` elements, except the block that ends the range. 0 means 1.
    std::size_t grain = 0;
    /// Not 0: the range is cut into exactly this many blocks, whose sizes differ by at most 1, and
    /// the loop is forked at once. A range with fewer elements gets one block per element. With a
    /// `grain`, there are fewer blocks, so that each has at least `grain` elements.
    std::size_t chunks = 0;
    /// A stop makes the loop throw interrupted. Each thread checks it before each block.
    std::stop_token stop{};
};

/// Options of parallel_reduce.
struct reduce_options {
    /// As in loop_options. With `deterministic`, the size of a leaf of the fixed tree.
    std::size_t grain = 0;
    /// The result depends on the elements, the operation and `grain` alone, also if the operation
    /// is not quite associative, as an addition of floating-point numbers is not: always the same
    /// tree, whatever the pool.
    bool deterministic = false;
    /// As in loop_options.
    std::stop_token stop{};
};

/// Options of the sorts, the scans and parallel_invoke.
struct stop_options {
    /// As in loop_options.
    std::stop_token stop{};
};

}  // namespace spool::inline v1
