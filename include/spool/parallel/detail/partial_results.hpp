// The partial results of a reduction: of blocks, of the runs of participants, and of a fixed tree.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "spool/detail/cache_line.hpp"
#include "spool/parallel/detail/loop.hpp"
#include "spool/parallel/options.hpp"

namespace spool::inline v1::detail {

/// x0 op x1 op ... of `count` elements from `first`. Precondition: count > 0.
///
/// An arithmetic operation waits for the result of the one before. So a long block is cut into
/// four, whose results do not depend on each other, and which the processor works on at once.
template <class T, class It, class Op, class Project>
[[nodiscard]] T reduce_block(It first, std::size_t count, Op& op, Project& project) {
    using difference = std::iter_difference_t<It>;
    const auto at = [&](std::size_t i) { return T(std::invoke(project, first[static_cast<difference>(i)])); };
    if constexpr (std::is_arithmetic_v<T>) {
        if (count >= 16) {
            const std::size_t part = count / 4;
            T a = at(0);
            T b = at(part);
            T c = at(2 * part);
            T d = at(3 * part);
            for (std::size_t i = 1; i < part; ++i) {
                a = std::invoke(op, a, at(i));
                b = std::invoke(op, b, at(part + i));
                c = std::invoke(op, c, at(2 * part + i));
                d = std::invoke(op, d, at(3 * part + i));
            }
            for (std::size_t i = 4 * part; i < count; ++i) {
                d = std::invoke(op, d, at(i));
            }
            return std::invoke(op, T(std::invoke(op, a, b)), T(std::invoke(op, c, d)));
        }
    }
    T sum = at(0);
    for (std::size_t i = 1; i < count; ++i) {
        sum = std::invoke(op, std::move(sum), at(i));
    }
    return sum;
}

/// The results of the runs of all participants. A run is a sequence of blocks of one participant,
/// each of which begins where the one before ended. There are few runs: one per participant, and
/// one per theft.
template <class T, class Op>
class partial_results {
public:
    partial_results(Op& op, std::size_t participants)
        : op_(op), participants_(participants), many_(participants > few ? participants : 0) {}
    partial_results(const partial_results&) = delete;
    partial_results& operator=(const partial_results&) = delete;
    ~partial_results() = default;

    /// Called by the participant: the result of the block [from, to).
    void add(std::size_t participant, std::size_t from, std::size_t to, T&& value) {
        line& mine = line_of(participant);
        if (mine.sum && mine.end == from) {
            *mine.sum = std::invoke(op_, *std::move(mine.sum), std::move(value));
        } else {
            if (mine.sum) {
                mine.ended.push_back({mine.from, *std::move(mine.sum)});
            }
            mine.from = from;
            mine.sum.emplace(std::move(value));
        }
        mine.end = to;
    }

    /// After the join.
    [[nodiscard]] T combine(T init) {
        std::vector<run> all;
        for (std::size_t i = 0; i < participants_; ++i) {
            line& one = line_of(i);
            if (one.sum && i == 0 && is_alone()) {
                return std::invoke(op_, std::move(init), *std::move(one.sum));
            }
            std::move(one.ended.begin(), one.ended.end(), std::back_inserter(all));
            if (one.sum) {
                all.push_back({one.from, *std::move(one.sum)});
            }
        }
        std::sort(all.begin(), all.end(), [](const run& a, const run& b) { return a.from < b.from; });
        for (run& one : all) {
            init = std::invoke(op_, std::move(init), std::move(one.value));
        }
        return init;
    }

private:
    static constexpr std::size_t few = 4;
    struct run {
        std::size_t from;
        T value;
    };
    struct alignas(cache_line) line {
        std::optional<T> sum;  // of the run from `from` to `end`
        std::size_t from = 0;
        std::size_t end = 0;
        std::vector<run> ended;  // earlier runs
    };

    [[nodiscard]] line& line_of(std::size_t participant) {
        return many_.empty() ? few_[participant] : many_[participant];
    }
    // Whether participant 0 ran everything, in one run.
    [[nodiscard]] bool is_alone() {
        for (std::size_t i = 1; i < participants_; ++i) {
            if (line_of(i).sum) {
                return false;
            }
        }
        return line_of(0).ended.empty();
    }

    Op& op_;
    const std::size_t participants_;
    std::array<line, few> few_;  // no allocation for few participants
    std::vector<line> many_;
};

/// The fixed tree: leaves of equal size, whose results are combined in pairs, level by level.
template <class T, class Op, class Reduce>
[[nodiscard]] T reduce_by_tree(thread_pool_executor& pool, std::size_t count, T init, Op& op, Reduce& reduce,
                               const reduce_options& options) {
    if (count == 0) {
        return init;
    }
    // Depends on the count alone, not on the pool.
    constexpr std::size_t most_leaves = 4096;
    constexpr std::size_t smallest = 1024;
    const std::size_t size = options.grain != 0 ? options.grain : std::max(smallest, count / most_leaves + 1);
    const std::size_t leaves = count / size + (count % size != 0 ? 1 : 0);
    std::vector<std::optional<T>> results(leaves);
    run_loop(pool, {leaves, 0, 0, options.stop, "parallel_reduce"},
             [&](std::size_t from, std::size_t to, std::size_t) {
                 for (std::size_t i = from; i < to; ++i) {
                     results[i].emplace(reduce(i * size, std::min(count, (i + 1) * size)));
                 }
             });
    for (std::size_t step = 1; step < leaves; step *= 2) {
        for (std::size_t i = 0; i + step < leaves; i += 2 * step) {
            results[i].emplace(std::invoke(op, *std::move(results[i]), *std::move(results[i + step])));
        }
    }
    return std::invoke(op, std::move(init), *std::move(results.front()));
}

}  // namespace spool::inline v1::detail
