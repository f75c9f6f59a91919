// stable_heap: the storage of the ordered queues. A binary heap in one block of memory.
//
// It guarantees two things beyond std::priority_queue:
//   stable   each entry gets a number when it is added; equal entries come out by number.
//   strong   if the order throws, in any call, nothing changes and nothing is lost. Each operation
//            first finds its path with comparisons alone, then moves along it without throwing.
// The elements are parked: the order is the only user code that runs here, under the queue's lock.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "spool/base/function_ref.hpp"
#include "spool/queue/detail/parked.hpp"

namespace spool::inline v1::detail {

// Base of orders that compare keys. The heap asks for an element's key once, when the element is
// added, and keeps the key beside the element:
//     key_type key(const T&) const;  bool operator()(const key_type&, const key_type&)
// Any other order compares the elements themselves.
struct order_by_key {};

template <class Order>
struct key_of_order {
    struct none {};
    using type = none;
};
template <std::derived_from<order_by_key> Order>
struct key_of_order<Order> {
    using type = typename Order::key_type;
};

// Not synchronised: the queue's mutex guards all but key_of().
template <class T, class Order>
class stable_heap {
    static_assert(
        std::is_nothrow_move_constructible_v<T>,
        "elements of an ordered queue must move without throwing: else one could be lost on the way");

public:
    using key_type = typename key_of_order<Order>::type;

    explicit stable_heap(Order by) : order_(std::move(by)) {}

    [[nodiscard]] const Order& order() const noexcept { return order_; }  // constant
    [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
    [[nodiscard]] const key_type& first_key() const noexcept { return entries_.front().key; }

    // Returns the key of `x`, so that push() need not ask for it under the queue's lock.
    [[nodiscard]] key_type key_of(const T& x) const {
        if constexpr (by_key) {
            return order_.key(x);
        } else {
            static_cast<void>(x);
            return {};
        }
    }

    // Takes `x` only if nothing throws.
    void push(loan<T>& x, key_type key) {
        const std::size_t end = entries_.size();
        std::size_t target = end;
        while (target > 0 && order_(comparand(*x, key), comparand(entries_[parent(target)]))) {
            target = parent(target);
        }
        if (end == entries_.capacity()) {
            entries_.reserve(std::max(2 * end, min_capacity));
        }
        entries_.emplace_back(x, std::move(key), next_number_++);
        if (target != end) {
            entry rising = std::move(entries_[end]);
            for (std::size_t hole = end; hole != target; hole = parent(hole)) {
                replace(entries_[hole], entries_[parent(hole)]);
            }
            replace(entries_[target], rising);
        }
    }

    // Takes the first entry. Precondition: the heap is not empty, and `first` is empty.
    void pop(parked<T>& first) {
        // The path follows the child that comes out first. The last entry fills the hole at the
        // path's end.
        const std::size_t last = entries_.size() - 1;
        std::array<std::size_t, 64> path{};
        std::size_t depth = 0;
        for (std::size_t child = 1; child < last; child = 2 * child + 1) {
            if (child + 1 < last && before(entries_[child + 1], entries_[child])) {
                ++child;
            }
            if (!before(entries_[child], entries_[last])) {
                break;
            }
            path[depth++] = child;
        }
        first = std::move(entries_.front().value);
        std::size_t hole = 0;
        for (std::size_t i = 0; i < depth; ++i) {
            replace(entries_[hole], entries_[path[i]]);
            hole = path[i];
        }
        if (hole != last) {
            replace(entries_[hole], entries_[last]);
        }
        entries_.pop_back();
        shrink();
    }

    // In order: calls `visitor` until it returns false. Only the second element costs more than a
    // step, since it needs the sorted order.
    void visit(function_ref<bool(const T&)> visitor) const {
        if (entries_.empty() || !visitor(*entries_.front().value) || entries_.size() == 1) {
            return;
        }
        const std::vector<std::size_t> sorted = in_order();
        for (std::size_t i = 1; i < sorted.size() && visitor(*entries_[sorted[i]].value); ++i) {}
    }

    // Takes the matching elements in order, and reserves room in `out` for all of them. The rest
    // stay sorted, which is a heap, in as much memory as they need.
    [[nodiscard]] std::vector<parked<T>> extract_if(function_ref<bool(const T&)> wanted,
                                                    std::vector<T>& out) {
        std::vector<parked<T>> taken;
        const std::vector<std::size_t> sorted = in_order();
        std::vector<bool> chosen(sorted.size());
        std::size_t count = 0;
        for (std::size_t i = 0; i < sorted.size(); ++i) {
            chosen[i] = wanted(*entries_[sorted[i]].value);
            count += chosen[i] ? std::size_t{1} : std::size_t{0};
        }
        if (count == 0) {
            return taken;
        }
        std::vector<entry> rest;
        rest.reserve(sorted.size() - count);
        out.reserve(count);
        taken.reserve(count);
        // Nothing has moved so far, so a throw above leaves the heap as it was.
        for (std::size_t i = 0; i < sorted.size(); ++i) {
            entry& from = entries_[sorted[i]];
            if (chosen[i]) {
                taken.push_back(std::move(from.value));
            } else {
                rest.push_back(std::move(from));
            }
        }
        entries_.swap(rest);
        return taken;
    }

private:
    static constexpr bool by_key = std::derived_from<Order, order_by_key>;
    static constexpr std::size_t min_capacity = 32;

    struct entry {
        entry(loan<T>& x, key_type k, std::uint64_t n) noexcept
            : value(x.release()), key(std::move(k)), number(n) {}
        parked<T> value;
        [[no_unique_address]] key_type key;
        std::uint64_t number;
    };
    static_assert(std::is_nothrow_move_constructible_v<entry>);

    static std::size_t parent(std::size_t child) noexcept { return (child - 1) / 2; }

    static const auto& comparand(const T& x, const key_type& key) noexcept {
        if constexpr (by_key) {
            return key;
        } else {
            return x;
        }
    }
    static const auto& comparand(const entry& e) noexcept { return comparand(*e.value, e.key); }

    bool before(const entry& a, const entry& b) const {
        return a.number < b.number ? !order_(comparand(b), comparand(a)) : order_(comparand(a), comparand(b));
    }

    // Precondition: `to` has been moved from. Constructs, because an assignment might throw.
    static void replace(entry& to, entry& from) noexcept {
        std::destroy_at(&to);
        std::construct_at(&to, std::move(from));
    }

    // Returns the indices of the entries in the order in which they come out.
    [[nodiscard]] std::vector<std::size_t> in_order() const {
        std::vector<std::size_t> indices(entries_.size());
        std::iota(indices.begin(), indices.end(), std::size_t{0});
        std::sort_heap(indices.begin(), indices.end(), [this](std::size_t a, std::size_t b) {
            return before(entries_[b], entries_[a]);  // sort_heap sorts in reverse
        });
        std::reverse(indices.begin(), indices.end());
        return indices;
    }

    // Frees memory after a burst. Keeps twice what is needed, to avoid repeated reallocation.
    void shrink() noexcept {
        if (entries_.capacity() <= min_capacity || entries_.size() > entries_.capacity() / 4) {
            return;
        }
        try {
            std::vector<entry> smaller;
            smaller.reserve(entries_.capacity() / 2);
            for (entry& e : entries_) {
                smaller.push_back(std::move(e));
            }
            entries_.swap(smaller);
        } catch (const std::bad_alloc&) {  // from reserve: then it stays as it is
        }
    }

    // mutable, because a comparator need not be callable as const
    mutable std::remove_const_t<Order> order_;
    std::vector<entry> entries_;
    std::uint64_t next_number_ = 0;
};

}  // namespace spool::inline v1::detail
