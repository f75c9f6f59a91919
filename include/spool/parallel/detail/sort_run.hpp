// sort_run: what the parallel sorts share: the stop, the forks, and the look at input that is
// already in order.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <iterator>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include "spool/base/error.hpp"
#include "spool/parallel/detail/leaf_sort.hpp"
#include "spool/parallel/detail/loop.hpp"
#include "spool/sync/this_task.hpp"

namespace spool::inline v1::detail {

/// Whether elements can be moved about without a failure. The elements of other types stay where
/// they are until their final order is known (sort_by_reference).
template <class T>
concept safely_movable = std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T> &&
    std::is_nothrow_swappable_v<T>;

/// Below this many elements a sort forks nothing.
inline constexpr std::ptrdiff_t serial_sort = 4096;

class sort_run {
public:
    sort_run(thread_pool_executor& pool, const std::stop_token& stop, const char* name)
        : pool_(pool), stop_(stop), name_(name), participants_(loop_participants(pool)) {}
    sort_run(const sort_run&) = delete;
    sort_run& operator=(const sort_run&) = delete;
    ~sort_run() = default;

    [[nodiscard]] std::size_t participants() const noexcept { return participants_; }

    /// A stop by the options, or of the caller's task. The task that runs another thread's part of
    /// the sort does not count: it stops with its pool, and the caller finishes the sort then.
    [[nodiscard]] bool stop_requested() const noexcept {
        return stop_.stop_requested() ||
               (std::this_thread::get_id() == caller_ && this_task::stop_requested());
    }
    /// \throws interrupted
    void check_stop() const {
        if (stop_requested()) {
            throw interrupted(std::string{name_} + ": stop requested; the elements are all there");
        }
    }

    /// Calls body(i) for 0 <= i < count, each on any thread.
    template <class Body>
    void for_each(std::size_t count, Body body) {
        run_loop(pool_, {count, 0, count, none_, name_, true},
                 [&](std::size_t from, std::size_t to, std::size_t) {
                     for (std::size_t i = from; i < to; ++i) {
                         body(i);
                     }
                 });
    }
    /// Calls both.
    template <class F, class G>
    void fork(F f, G g) {
        for_each(2, [&](std::size_t i) { i == 0 ? f() : g(); });
    }
    /// Calls body(from, to) for blocks that are [0, count).
    template <class Body>
    void for_blocks(std::size_t count, Body body) {
        run_loop(pool_, {count, 0, 0, stop_, name_, true},
                 [&](std::size_t from, std::size_t to, std::size_t) { body(from, to); });
    }

private:
    thread_pool_executor& pool_;
    const std::stop_token& stop_;
    const std::stop_token none_{};
    const char* const name_;
    const std::size_t participants_;
    const std::thread::id caller_ = std::this_thread::get_id();
};

enum class sort_kind { any_order_of_equals, stable };

/// Gives equal neighbours of a sorted range that was reversed their old order back.
template <class It, class Less>
void reverse_equals(It first, It last, Less& less) {
    while (first != last) {
        It end = first + 1;
        while (end != last && !less(*first, *end)) {
            ++end;
        }
        for (It a = first, b = end; a < --b; ++a) {
            std::ranges::iter_swap(a, b);
        }
        first = end;
    }
}

/// If the range is ascending, or descending, leaves it sorted and returns true. A range whose first
/// elements are in no order costs next to nothing.
template <sort_kind Kind, class It, class Less>
bool sort_if_in_order(sort_run& run, It first, It last, Less& less) {
    using difference = std::iter_difference_t<It>;
    const difference count = last - first;
    const auto is_in_order = [&](difference from, difference to, bool descending) {
        It at = first + from;
        const It end = first + to;
        if (descending) {
            while (at != end && !less(at[0], at[1])) {
                ++at;
            }
        } else {
            while (at != end && !less(at[1], at[0])) {
                ++at;
            }
        }
        return at == end;
    };
    const difference sample = std::min<difference>(count - 1, 64);
    const bool descending = !is_in_order(0, sample, false);
    if (descending && !is_in_order(0, sample, true)) {
        return false;
    }
    std::atomic<bool> holds{true};
    run.for_blocks(static_cast<std::size_t>(count - 1), [&](std::size_t from, std::size_t to) {
        if (holds.load() &&
            !is_in_order(static_cast<difference>(from), static_cast<difference>(to), descending)) {
            holds.store(false);
        }
    });
    if (!holds.load()) {
        return false;
    }
    if (descending) {
        run.for_blocks(static_cast<std::size_t>(count / 2), [&](std::size_t from, std::size_t to) {
            for (auto i = static_cast<difference>(from); i < static_cast<difference>(to); ++i) {
                std::ranges::iter_swap(first + i, first + (count - 1 - i));
            }
        });
        if constexpr (Kind == sort_kind::stable) {
            reverse_equals(first, last, less);
        }
    }
    return true;
}

}  // namespace spool::inline v1::detail
