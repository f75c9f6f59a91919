// array_blocking_queue: first in, first out, with a fixed capacity.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "spool/base/export.hpp"
#include "spool/base/task.hpp"
#include "spool/queue/blocking_queue.hpp"
#include "spool/queue/detail/ring_fifo.hpp"

namespace spool::inline v1 {

/// FIFO over a ring of slots that are allocated once, one cache line each (several, if an element
/// has visitor than 56 bytes).
///
///     spool::array_blocking_queue<int> numbers{100};
///     bool taken = numbers.offer(7);  // false while 100 are there
///
/// Adding and taking use no lock. Members that visit all elements (remove_if, for_each, contains,
/// peek and the like) stop both ends meanwhile. Elements must be movable without throwing. See
/// blocking_queue for everything else.
template <class T>
class array_blocking_queue final : public blocking_queue<T> {
public:
    /// \throws std::invalid_argument if `capacity` is 0 or over 2^48, std::bad_alloc if memory runs
    /// out.
    explicit array_blocking_queue(std::size_t capacity) : fifo_(checked(capacity)) {}
    /// Holds the elements of a range from the start. Moves those of an rvalue range.
    /// \throws std::invalid_argument also if the elements do not fit
    template <std::ranges::forward_range Range>
    array_blocking_queue(std::size_t capacity, Range&& elements) : array_blocking_queue(capacity) {
        const auto count = static_cast<std::size_t>(std::ranges::distance(elements));
        if (count > capacity) {
            throw std::invalid_argument("array_blocking_queue: " + std::to_string(count) +
                                        " elements do not fit into a capacity of " +
                                        std::to_string(capacity));
        }
        this->offer_all(std::forward<Range>(elements));
    }

    [[nodiscard]] std::size_t size() const override { return fifo_.size(); }
    [[nodiscard]] std::size_t capacity() const override { return fifo_.capacity(); }
    [[nodiscard]] std::unique_ptr<blocking_queue<T>> fresh() const override {
        return std::make_unique<array_blocking_queue>(fifo_.capacity());
    }

protected:
    // The two ends of fifo_ are pair (S) of the waits: see ring_fifo.
    bool try_push(T& x) override { return fifo_.try_push(x); }
    std::optional<T> try_pop() override { return fifo_.try_pop(); }
    bool try_pop_into(T& x) override {
        if constexpr (std::is_nothrow_move_assignable_v<T>) {
            return fifo_.try_pop_into(x);
        } else {
            return blocking_queue<T>::try_pop_into(x);
        }
    }
    std::vector<T> extract_if(function_ref<bool(const T&)> wanted) override {
        return fifo_.extract_if(wanted);
    }
    void visit(function_ref<bool(const T&)> visitor) const override { fifo_.visit(visitor); }

private:
    static std::size_t checked(std::size_t capacity) {
        constexpr std::size_t most = std::size_t{1} << 48;
        if (capacity == 0) {
            throw std::invalid_argument("array_blocking_queue: capacity must be at least 1, not 0");
        }
        if (capacity > most) {
            throw std::invalid_argument(
                "array_blocking_queue: capacity must not exceed " + std::to_string(most) + ", not " +
                std::to_string(capacity) +
                (capacity > std::numeric_limits<std::size_t>::max() / 2 ? " (a negative number?)" : ""));
        }
        return capacity;
    }

    mutable detail::ring_fifo<T> fifo_;
};

extern template class SPOOL_API array_blocking_queue<task>;

}  // namespace spool::inline v1
