// quick_sort: the parallel sort that keeps no order among equals. In place, without memory of its
// own. Elements change places only by swaps and by the guarded moves of leaf_sort.
//
// The first partition is the largest, so all threads do it: each partitions its own part of the
// range around the same pivot, then the elements on the wrong side of the border change places.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <iterator>
#include <vector>

#include "spool/parallel/detail/leaf_sort.hpp"
#include "spool/parallel/detail/sort_run.hpp"

namespace spool::inline v1::detail {

template <class It, class Less>
class quick_sorter {
    using difference = std::iter_difference_t<It>;

public:
    quick_sorter(sort_run& run, Less& less) noexcept : run_(run), less_(less), leaf_(less) {}

    void sort(It first, It last) {
        const difference count = last - first;
        // A part is large if one thread alone would be the last to finish it.
        large_ =
            std::max<difference>(count / static_cast<difference>(run_.participants()), difference{1} << 16);
        sort(first, last, 8);
    }

private:
    // `bad_allowed`: how many more partitions may fail to divide the range.
    void sort(It first, It last, int bad_allowed) {
        for (;;) {
            run_.check_stop();
            const difference count = last - first;
            if (count <= fork_size || bad_allowed == 0) {
                leaf_.sort(first, last);
                return;
            }
            leaf_.sample_pivot(first, last);
            const It pivot = run_.participants() > 1 && count >= large_
                                 ? partition_by_all(first, last)
                                 : leaf_.partition_by_first(first, last);
            It right = pivot + 1;
            if (pivot - first < count / 16) {
                // Many equal elements, or a bad pivot: those equal to it are in place now.
                right = leaf_.partition_equal_by_first(pivot, last) + 1;
            }
            const bool is_bad = std::max(pivot - first, last - right) > count - count / 16;
            const int left_bad = bad_allowed - (is_bad ? 1 : 0);
            if (run_.participants() > 1 && std::min(pivot - first, last - right) > serial_sort) {
                run_.fork([&] { sort(first, pivot, left_bad); }, [&] { sort(right, last, left_bad); });
                return;
            }
            sort(first, pivot, left_bad);
            first = right;
            bad_allowed = left_bad;
        }
    }

    // Partitions around *first, on all threads. Returns the place of the pivot.
    It partition_by_all(It first, It last) {
        const It from = first + 1;
        const auto parts = run_.participants();
        const difference count = last - from;
        std::vector<It> borders(parts);
        const auto begin_of = [&](std::size_t i) {
            return from + static_cast<difference>(static_cast<std::size_t>(count) / parts * i);
        };
        const auto end_of = [&](std::size_t i) { return i + 1 == parts ? last : begin_of(i + 1); };
        run_.for_each(parts, [&](std::size_t i) {
            borders[i] = leaf_.partition_around(first, begin_of(i), end_of(i));
        });
        // Now each part is | less ... | not less ... |. All less ones belong before `middle`.
        difference less_count = 0;
        for (std::size_t i = 0; i < parts; ++i) {
            less_count += borders[i] - begin_of(i);
        }
        const It middle = from + less_count;
        swap_misplaced(borders, begin_of, end_of, middle);
        std::ranges::iter_swap(first, middle - 1);
        return middle - 1;
    }

    struct piece {
        It first;
        difference size;
    };
    // Swaps the k-th element on the left of `middle` that is not less with the k-th on its right
    // that is.
    template <class Begin, class End>
    void swap_misplaced(const std::vector<It>& borders, Begin begin_of, End end_of, It middle) {
        std::vector<piece> left;
        std::vector<piece> right;
        for (std::size_t i = 0; i < borders.size(); ++i) {
            if (borders[i] < middle) {
                left.push_back({borders[i], std::min(end_of(i), middle) - borders[i]});
            }
            const It from = std::max(begin_of(i), middle);
            if (from < borders[i]) {
                right.push_back({from, borders[i] - from});
            }
        }
        difference total = 0;
        for (const piece& p : left) {
            total += p.size;
        }
        run_.for_blocks(static_cast<std::size_t>(total), [&](std::size_t from, std::size_t to) {
            It a = nth(left, static_cast<difference>(from));
            It b = nth(right, static_cast<difference>(from));
            difference left_here = rest(left, static_cast<difference>(from));
            difference right_here = rest(right, static_cast<difference>(from));
            for (auto i = static_cast<difference>(from); i < static_cast<difference>(to);) {
                const difference some = std::min({left_here, right_here, static_cast<difference>(to) - i});
                std::swap_ranges(a, a + some, b);
                i += some;
                if (i < static_cast<difference>(to)) {
                    a = nth(left, i);
                    b = nth(right, i);
                    left_here = rest(left, i);
                    right_here = rest(right, i);
                }
            }
        });
    }
    // The k-th element of the pieces, and how many come from it to the end of its piece.
    static It nth(const std::vector<piece>& pieces, difference k) {
        auto p = pieces.begin();
        for (; k >= p->size; ++p) {
            k -= p->size;
        }
        return p->first + k;
    }
    static difference rest(const std::vector<piece>& pieces, difference k) {
        auto p = pieces.begin();
        for (; k >= p->size; ++p) {
            k -= p->size;
        }
        return p->size - k;
    }

    static constexpr difference fork_size = 16384;

    sort_run& run_;
    Less& less_;
    leaf_sorter<It, Less> leaf_;
    difference large_ = 0;
};

}  // namespace spool::inline v1::detail
