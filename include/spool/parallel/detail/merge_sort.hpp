// merge_sort: the parallel sort that keeps the order of equal elements.
//
// The elements are in two places: the range, and a buffer of the same length. Both hold n live
// objects from begin to end, so moves are assignments, and the lifetime of no object depends on
// where a comparison throws. sort_into(target) sorts a part of the elements, which all lie in the
// buffer, and leaves them all in `target`.
//
// I1  Every step moves all its elements to its target, whatever happens. After a comparison has
//     thrown, or a stop, the steps go on without comparisons (`failed_`). So the range ends up with
//     a permutation of its elements.
// I2  A step that a thread did not run (a loop throws if its pool stops, or the caller's task) is
//     run by the thread that forked it.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <exception>
#include <iterator>
#include <memory>
#include <new>
#include <utility>

#include "spool/parallel/detail/leaf_sort.hpp"
#include "spool/parallel/detail/sort_run.hpp"

namespace spool::inline v1::detail {

/// Memory for `count` elements.
template <class T>
class raw_buffer {
public:
    explicit raw_buffer(std::size_t count) : count_(count), first_(std::allocator<T>{}.allocate(count)) {}
    raw_buffer(const raw_buffer&) = delete;
    raw_buffer& operator=(const raw_buffer&) = delete;
    ~raw_buffer() { std::allocator<T>{}.deallocate(first_, count_); }
    [[nodiscard]] T* data() const noexcept { return first_; }

private:
    std::size_t count_;
    T* first_;
};

template <class It, class Less>
class merge_sorter {
    using value = std::iter_value_t<It>;
    using difference = std::iter_difference_t<It>;
    static_assert(safely_movable<value>);

public:
    merge_sorter(sort_run& run, Less& less) noexcept : run_(run), less_(less) {}

    /// \throws std::bad_alloc, then nothing has moved
    void sort(It first, It last) {
        const difference count = last - first;
        const raw_buffer<value> memory{static_cast<std::size_t>(count)};
        range_ = first;
        buffer_ = memory.data();
        // One thread: it is bound by memory, and nothing may be left out.
        std::uninitialized_move(first, last, buffer_);
        sort_into(place::range, 0, count);
        std::destroy_n(buffer_, count);
        if (error_ != nullptr) {
            std::rethrow_exception(error_);
        }
        if (failed_.load()) {
            throw interrupted("parallel_stable_sort: stop requested; the elements are all there");
        }
    }

private:
    enum class place { range, buffer };

    // Calls `f` with the iterator to the elements of a place.
    template <class F>
    void in(place p, F f) {
        p == place::range ? f(range_) : f(buffer_);
    }

    // The elements lie in the buffer.
    void sort_into(place target, difference from, difference to) noexcept {
        const difference count = to - from;
        if (failed()) {
            move_all(target, from, to);
            return;
        }
        if (count <= leaf) {
            move_all(target, from, to);
            in(target, [&](auto at) { attempt([&] { leaf_sort(at + from, at + to); }); });
            return;
        }
        const difference middle = from + count / 2;
        const place halves = target == place::range ? place::buffer : place::range;
        if (count <= serial_sort || run_.participants() == 1) {
            sort_into(halves, from, middle);
            sort_into(halves, middle, to);
        } else {
            all_of(2, [&](std::size_t i) {
                i == 0 ? sort_into(halves, from, middle) : sort_into(halves, middle, to);
            });
        }
        if (target == place::range) {
            merge(buffer_, range_, from, middle, to);
        } else {
            merge(range_, buffer_, from, middle, to);
        }
    }
    template <class At>
    void leaf_sort(At first, At last) {
        leaf_sorter<At, Less>{less_}.insertion_sort(first, last);
    }
    void move_all(place target, difference from, difference to) noexcept {
        if (target == place::range) {
            std::move(buffer_ + from, buffer_ + to, range_ + from);
        }
    }

    // Merges two neighbours, on all threads if they are long.
    template <class Source, class Target>
    void merge(Source source, Target target, difference from, difference middle, difference to) noexcept {
        constexpr std::size_t most = 64;
        const std::size_t parts =
            to - from < long_merge ? 1 : std::min<std::size_t>(run_.participants(), most);
        std::array<difference, most + 1> left;
        std::array<difference, most + 1> right;
        left[0] = from;
        right[0] = middle;
        left[parts] = middle;
        right[parts] = to;
        attempt([&] {
            const auto step = static_cast<difference>(static_cast<std::size_t>(to - from) / parts);
            for (std::size_t i = 1; i < parts; ++i) {
                const difference rank = step * static_cast<difference>(i);
                // The clamp changes nothing, unless the comparison is no order.
                left[i] = std::clamp(split(source, from, middle, to, rank), left[i - 1], left[i - 1] + step);
                right[i] = middle + rank - (left[i] - from);
            }
        });
        if (failed()) {
            std::move(source + from, source + to, target + from);
            return;
        }
        const auto merge_part = [&](std::size_t i) {
            merge_one(source, target + (left[i] + right[i] - middle), left[i], left[i + 1], right[i],
                      right[i + 1]);
        };
        if (parts == 1) {
            merge_part(0);
        } else {
            all_of(parts, merge_part);
        }
    }
    // How many of the first `rank` elements of the merge come from the left; returns that position.
    template <class Source>
    difference split(Source source, difference from, difference middle, difference to, difference rank) {
        difference low = from + std::max<difference>(0, rank - (to - middle));
        difference high = from + std::min(rank, middle - from);
        while (low < high) {
            const difference at = low + (high - low) / 2;
            const difference other = middle + (rank - (at - from)) - 1;
            // Equal elements come from the left first.
            if (less_(source[other], source[at])) {
                high = at;
            } else {
                low = at + 1;
            }
        }
        return low;
    }
    template <class Source, class Target>
    void merge_one(Source source, Target target, difference a, difference a_end, difference b,
                   difference b_end) noexcept {
        const bool may_compare = !failed();
        attempt([&] {
            if (!may_compare) {
                return;
            }
            while (a < a_end && b < b_end) {
                if constexpr (is_branchless<value, std::remove_const_t<Less>>) {
                    const bool from_right = less_(source[b], source[a]);
                    *target = source[from_right ? b : a];
                    a += !from_right;
                    b += from_right;
                } else if (less_(source[b], source[a])) {
                    *target = std::move(source[b++]);
                } else {
                    *target = std::move(source[a++]);
                }
                ++target;
            }
        });
        target = std::move(source + a, source + a_end, target);
        std::move(source + b, source + b_end, target);
    }

    // Calls step(i) for all i, each exactly once (I2).
    template <class Step>
    void all_of(std::size_t count, Step step) noexcept {
        std::array<std::atomic<bool>, 64> done{};
        try {
            run_.for_each(count, [&](std::size_t i) {
                done[i].store(true);
                step(i);
            });
        } catch (...) {
            failed_.store(true);
        }
        for (std::size_t i = 0; i < count; ++i) {
            if (!done[i].load()) {
                step(i);
            }
        }
    }

    // Calls something that compares. Keeps the first exception.
    template <class F>
    void attempt(F f) noexcept {
        try {
            f();
        } catch (...) {
            if (!threw_.exchange(true)) {
                error_ = std::current_exception();
            }
            failed_.store(true);
        }
    }
    [[nodiscard]] bool failed() noexcept {
        if (!failed_.load() && run_.stop_requested()) {
            failed_.store(true);
        }
        return failed_.load();
    }

    // Comparisons that cost something are better spent on merges.
    static constexpr difference leaf = is_branchless<value, std::remove_const_t<Less>> ? 24 : 10;
    static constexpr difference long_merge = difference{1} << 15;

    sort_run& run_;
    Less& less_;
    It range_{};
    value* buffer_ = nullptr;
    std::atomic<bool> failed_{false};
    std::atomic<bool> threw_{false};  // decides which exception is the first
    std::exception_ptr error_;        // written by the winner of threw_, read after the last join
};

}  // namespace spool::inline v1::detail
