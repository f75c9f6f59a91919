// leaf_sort: sorts in place on one thread. After a comparison throws, the elements are a
// permutation of what they were: they leave their place only by swaps, or with a guard that puts
// them back.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

namespace spool::inline v1::detail {

/// Whether a comparison is so cheap that a mispredicted branch costs more: then partition() has no
/// branch that depends on it.
template <class T, class Less>
inline constexpr bool is_branchless = false;

/// The comparison of a sort: comp(project(a), project(b)). Const, so that threads may share it.
template <class Comp, class Project>
struct projected_less {
    Comp& comp;
    Project& project;

    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
        return static_cast<bool>(std::invoke(comp, std::invoke(project, a), std::invoke(project, b)));
    }
};
template <class T, class Comp>
inline constexpr bool is_plain_order =
    std::is_same_v<Comp, std::ranges::less> || std::is_same_v<Comp, std::ranges::greater> ||
    std::is_same_v<Comp, std::less<>> || std::is_same_v<Comp, std::greater<>> ||
    std::is_same_v<Comp, std::less<T>> || std::is_same_v<Comp, std::greater<T>>;
template <class T, class Comp>
inline constexpr bool is_branchless<T, projected_less<Comp, std::identity>> =
    (std::is_arithmetic_v<T> || std::is_pointer_v<T>)&&is_plain_order<T, Comp>;

template <class It, class Less>
class leaf_sorter {
    using value = std::iter_value_t<It>;
    using difference = std::iter_difference_t<It>;
    static constexpr difference small = is_branchless<value, std::remove_const_t<Less>> ? 24 : 16;
    static constexpr difference ninther = 128;

public:
    explicit leaf_sorter(Less& less) noexcept : less_(less) {}

    void sort(It first, It last) {
        // A bad partition takes at most an eighth off the range. After too many, heap_sort().
        const auto log2 = std::bit_width(static_cast<std::size_t>(last - first));
        sort(first, last, static_cast<int>(log2), false);
    }

    /// Sorts by insertion, keeps the order of equal elements. For short ranges.
    void insertion_sort(It first, It last) {
        if (first == last) {
            return;
        }
        for (It next = first + 1; next != last; ++next) {
            if (less_(*next, *(next - 1))) {
                insert(first, next);
            }
        }
    }

    /// Puts the elements less than the pivot *first before it, the others behind it. Returns the
    /// place of the pivot.
    It partition_by_first(It first, It last) { return partition_right(first, last).first; }
    /// Likewise, but elements equal to the pivot go before it. Precondition: none is less.
    It partition_equal_by_first(It first, It last) { return partition_left(first, last); }
    /// Moves the elements less than `pivot`, which lies elsewhere, to the front. Returns their end.
    It partition_around(It pivot, It first, It last) {
        if constexpr (is_branchless<value, std::remove_const_t<Less>>) {
            return partition_blocks(pivot, first, last);
        } else {
            return partition_rest(pivot, first, last);
        }
    }
    /// Moves the median of a sample to *first.
    void sample_pivot(It first, It last) {
        constexpr difference samples = 31;
        if (last - first < samples * 8) {
            choose_pivot(first, last);
            return;
        }
        std::array<It, samples> at;
        const difference step = (last - first) / samples;
        for (difference i = 0; i < samples; ++i) {
            It one = first + i * step;
            difference to = i;
            for (; to > 0 && less_(*one, *at[static_cast<std::size_t>(to - 1)]); --to) {
                at[static_cast<std::size_t>(to)] = at[static_cast<std::size_t>(to - 1)];
            }
            at[static_cast<std::size_t>(to)] = one;
        }
        std::ranges::iter_swap(first, at[samples / 2]);
    }

private:
    // An element on its way down: put back where the hole is, also if a comparison throws.
    struct hole {
        value x;
        It at;
        ~hole() { *at = std::move(x); }
    };
    // Returns how far the element moved.
    difference insert(It first, It next) {
        hole moved{std::ranges::iter_move(next), next};
        do {
            *moved.at = std::ranges::iter_move(moved.at - 1);
            --moved.at;
        } while (moved.at != first && less_(moved.x, *(moved.at - 1)));
        return next - moved.at;
    }

    // `follows`: an element before `first` is not greater than any of the range.
    void sort(It first, It last, int bad_allowed, bool follows) {
        while (last - first > small) {
            choose_pivot(first, last);
            // Equal to the element before: all that are not greater belong to the left.
            if (follows && !less_(*(first - 1), *first)) {
                first = partition_left(first, last) + 1;
                continue;
            }
            const difference size = last - first;
            const auto [pivot, was_partitioned] = partition_right(first, last);
            const bool is_bad = pivot - first < size / 8 || last - pivot - 1 < size / 8;
            if (is_bad) {
                if (--bad_allowed < 0) {
                    heap_sort(first, last);
                    return;
                }
                shuffle(first, pivot);
                shuffle(pivot + 1, last);
            } else if (was_partitioned && try_insertion_sort(first, pivot) &&
                       try_insertion_sort(pivot + 1, last)) {
                return;
            }
            sort(first, pivot, bad_allowed, follows);
            first = pivot + 1;
            follows = true;
        }
        insertion_sort(first, last);
    }

    // Gives up after a few moves. True: sorted.
    bool try_insertion_sort(It first, It last) {
        if (first == last) {
            return true;
        }
        difference moves = 0;
        for (It next = first + 1; next != last; ++next) {
            if (less_(*next, *(next - 1))) {
                moves += insert(first, next);
                if (moves > 8) {
                    return false;
                }
            }
        }
        return true;
    }

    void order(It a, It b) {
        if (less_(*b, *a)) {
            std::ranges::iter_swap(a, b);
        }
    }
    void order(It a, It b, It c) {
        order(a, b);
        order(b, c);
        order(a, b);
    }
    // Moves the median of three, or of nine, to *first.
    void choose_pivot(It first, It last) {
        const difference size = last - first;
        const difference half = size / 2;
        if (size > ninther) {
            order(first, first + half, last - 1);
            order(first + 1, first + (half - 1), last - 2);
            order(first + 2, first + (half + 1), last - 3);
            order(first + (half - 1), first + half, first + (half + 1));
            std::ranges::iter_swap(first, first + half);
        } else {
            order(first + half, first, last - 1);
        }
    }

    // Elements equal to the pivot go to the right. True: nothing had to be swapped.
    std::pair<It, bool> partition_right(It begin, It end) {
        It first = begin + 1;
        It last = end;
        // Bounded by each other, so that a comparison without an order does no harm either.
        while (first < last && less_(*first, *begin)) {
            ++first;
        }
        while (first < last && !less_(*(last - 1), *begin)) {
            --last;
        }
        const bool was_partitioned = first >= last;
        if (!was_partitioned) {
            --last;
            std::ranges::iter_swap(first, last);
            ++first;
            first = partition_around(begin, first, last);
        }
        const It pivot = first - 1;
        std::ranges::iter_swap(begin, pivot);
        return {pivot, was_partitioned};
    }
    It partition_rest(It pivot, It first, It last) {
        while (first < last) {
            while (first < last && less_(*first, *pivot)) {
                ++first;
            }
            while (first < last && !less_(*(last - 1), *pivot)) {
                --last;
            }
            if (first < last) {
                --last;
                std::ranges::iter_swap(first, last);
                ++first;
            }
        }
        return first;
    }
    // Edelkamp and Weiss, BlockQuicksort: the offsets of elements on the wrong side are collected
    // without branches, block by block, then swapped. Comparisons and swaps never mix.
    It partition_blocks(It pivot_at, It first, It last) {
        constexpr difference block = 64;
        std::array<unsigned char, block> left;
        std::array<unsigned char, block> right;
        const value pivot = *pivot_at;
        It left_base = first;
        It right_base = last;
        difference left_count = 0;
        difference right_count = 0;
        difference left_start = 0;
        difference right_start = 0;
        while (first < last) {
            const difference unknown = last - first;
            const difference left_split = left_count == 0 ? (right_count == 0 ? unknown / 2 : unknown) : 0;
            const difference right_split = right_count == 0 ? unknown - left_split : 0;
            const difference left_size = std::min(left_split, block);
            for (difference i = 0; i < left_size; ++i) {
                left[static_cast<std::size_t>(left_count)] = static_cast<unsigned char>(i);
                left_count += !less_(*first, pivot);
                ++first;
            }
            const difference right_size = std::min(right_split, block);
            for (difference i = 0; i < right_size;) {
                right[static_cast<std::size_t>(right_count)] = static_cast<unsigned char>(++i);
                right_count += less_(*--last, pivot);
            }
            const difference swaps = std::min(left_count, right_count);
            for (difference i = 0; i < swaps; ++i) {
                std::ranges::iter_swap(left_base + left[static_cast<std::size_t>(left_start + i)],
                                       right_base - right[static_cast<std::size_t>(right_start + i)]);
            }
            left_count -= swaps;
            right_count -= swaps;
            left_start += swaps;
            right_start += swaps;
            if (left_count == 0) {
                left_start = 0;
                left_base = first;
            }
            if (right_count == 0) {
                right_start = 0;
                right_base = last;
            }
        }
        // Offsets of one side are left: their elements go to the other end.
        if (left_count != 0) {
            while (left_count-- != 0) {
                std::ranges::iter_swap(left_base + left[static_cast<std::size_t>(left_start + left_count)],
                                       --last);
            }
            first = last;
        }
        if (right_count != 0) {
            while (right_count-- != 0) {
                std::ranges::iter_swap(
                    right_base - right[static_cast<std::size_t>(right_start + right_count)], first);
                ++first;
            }
        }
        return first;
    }
    // Elements equal to the pivot go to the left. Precondition: none is less than the pivot.
    It partition_left(It begin, It end) {
        It first = begin + 1;
        It last = end;
        for (;;) {
            while (first < last && !less_(*begin, *first)) {
                ++first;
            }
            while (first < last && less_(*begin, *(last - 1))) {
                --last;
            }
            if (first >= last) {
                break;
            }
            --last;
            std::ranges::iter_swap(first, last);
            ++first;
        }
        std::ranges::iter_swap(begin, first - 1);
        return first - 1;
    }

    // Breaks a pattern that makes partitions bad.
    static void shuffle(It first, It last) {
        const difference size = last - first;
        if (size > small) {
            const difference quarter = size / 4;
            for (difference i = 0; i < 3; ++i) {
                std::ranges::iter_swap(first + i, first + quarter + i);
                std::ranges::iter_swap(last - 1 - i, last - quarter - i);
            }
        }
    }

    void heap_sort(It first, It last) {
        const difference size = last - first;
        for (difference i = size / 2; i-- > 0;) {
            sift_down(first, i, size);
        }
        for (difference end = size - 1; end > 0; --end) {
            std::ranges::iter_swap(first, first + end);
            sift_down(first, 0, end);
        }
    }
    void sift_down(It first, difference at, difference size) {
        for (difference child = 2 * at + 1; child < size; child = 2 * at + 1) {
            if (child + 1 < size && less_(first[child], first[child + 1])) {
                ++child;
            }
            if (!less_(first[at], first[child])) {
                return;
            }
            std::ranges::iter_swap(first + at, first + child);
            at = child;
        }
    }

    Less& less_;
};

}  // namespace spool::inline v1::detail
