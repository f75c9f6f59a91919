// linked_blocking_queue: first in, first out; unbounded, or with a capacity that can change.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "spool/base/export.hpp"
#include "spool/base/task.hpp"
#include "spool/queue/blocking_queue.hpp"
#include "spool/queue/detail/segment_fifo.hpp"
#include "spool/queue/detail/wait_then_trim.hpp"

namespace spool::inline v1 {

/// FIFO; unbounded unless a capacity is given.
///
///     spool::linked_blocking_queue<std::string> lines{1000};
///     lines.put("one");                      // waits while 1000 are there
///     std::string line = lines.take();       // waits while none is there
///     lines.set_capacity(5000);              // even while in use
///
/// Adding and taking wait for no lock, and allocate nothing in steady use. Elements lie in slots of
/// one cache line (several, if larger than 56 bytes), in segments that are reused. A queue that
/// stays empty for a while gives its memory back to the system. Members that visit all elements
/// (remove_if, for_each, contains, peek and the like) stop both ends meanwhile.
///
/// Elements must be movable without throwing. See blocking_queue for everything else.
///
/// `Slots` is the number of slots per segment; there is no need to change it.
template <class T, std::size_t Slots = detail::slots_per_segment<T>>
class linked_blocking_queue final : public blocking_queue<T> {
public:
    using blocking_queue<T>::unlimited;

    linked_blocking_queue() = default;
    /// \throws std::invalid_argument if `capacity` is 0.
    explicit linked_blocking_queue(std::size_t capacity) : capacity_(checked(capacity)) {}
    /// Holds the elements of a range from the start. Moves those of an rvalue range.
    template <std::ranges::input_range Range>
        requires(!std::derived_from<std::remove_cvref_t<Range>, blocking_queue<T>>)
    explicit linked_blocking_queue(Range&& elements) { this->offer_all(std::forward<Range>(elements)); }

    [[nodiscard]] std::size_t size() const override { return fifo_.size(); }
    [[nodiscard]] std::size_t capacity() const override { return capacity_.load(); }
    [[nodiscard]] std::unique_ptr<blocking_queue<T>> fresh() const override {
        return std::make_unique<linked_blocking_queue>(capacity_.load());
    }

    /// Takes effect at once. If raised, waiting producers proceed. If lowered below the size, the
    /// queue accepts nothing until it has been drained below the new capacity. `unlimited` removes
    /// the limit.
    /// \throws std::invalid_argument if `capacity` is 0; the old capacity stays.
    void set_capacity(std::size_t capacity) override {
        capacity_.store(checked(capacity));
        this->wake_producers();  // pair (S): capacity_
    }
    void check_capacity(std::size_t capacity) const override { static_cast<void>(checked(capacity)); }

    /// As in blocking_queue. A waiting consumer frees the memory that the queue no longer needs.
    wait_result pop_until(std::optional<T>& x, const wait_limits& limits,
                          function_ref<bool()> give_up = blocking_queue<T>::never_give_up) override {
        if (!fifo_.has_surplus()) {
            return blocking_queue<T>::pop_until(x, limits, give_up);
        }
        return detail::wait_then_trim(
            limits, fifo_.idle_before_trim,
            [&](const wait_limits& part) { return blocking_queue<T>::pop_until(x, part, give_up); },
            [this] { fifo_.trim(); });
    }

    /// How many segments the queue holds, including spares: a statistic. Stops both ends meanwhile.
    [[nodiscard]] std::size_t segment_count() const { return fifo_.segment_count(); }

protected:
    // The two ends of fifo_ are pair (S) of the waits: see segment_fifo.
    bool try_push(T& x) override { return fifo_.try_push(x, capacity_.load()); }
    std::size_t try_push_some(std::span<T> xs) override {
        return fifo_.try_push_some(xs.data(), xs.size(), capacity_.load());
    }
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
        if (capacity == 0) {
            throw std::invalid_argument("linked_blocking_queue: capacity must be at least 1, not 0");
        }
        return capacity;
    }

    mutable detail::segment_fifo<T, Slots> fifo_;
    // Written by set_capacity(); pair (S) of producers that wait for a larger capacity.
    std::atomic<std::size_t> capacity_{unlimited};
};

extern template class SPOOL_API linked_blocking_queue<task>;

}  // namespace spool::inline v1
