// parked: holds an element that a lock guards. Moving a parked object, or destroying one that was
// moved from, calls no user code.
//
// Move constructors and destructors are user code. A task's move is too, if its callable has a
// non-trivial move. Under a queue's lock they could call the queue, and deadlock. So a producer
// parks its element before it takes the lock, and a consumer unpacks the element after it releases
// the lock. Under the lock only bytes and pointers move.
#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "spool/queue/detail/element_move.hpp"

namespace spool::inline v1::detail {

/// Moves `from` back to `to`, which was moved from.
template <class T>
void move_back(T& to, T& from) noexcept {
    if constexpr (std::is_nothrow_move_assignable_v<T>) {
        to = std::move(from);
    } else {
        std::destroy_at(&to);
        std::construct_at(&to, std::move(from));
    }
}

/// Holds one element or none. Stores an element in place if its move is known to call no user code,
/// and otherwise in a box on the heap.
template <class T>
class parked {
    static_assert(std::is_nothrow_move_constructible_v<T>,
                  "elements of a queue must move without throwing: else one could be lost on the way");

public:
    parked() = default;
    /// Moves from `x`. \throws std::bad_alloc, then `x` is untouched
    explicit parked(T& x) {
        if constexpr (is_always_in_place) {
            in_place_.emplace(std::move(x));
        } else if constexpr (may_be_in_place) {
            if (can_move_without_calls(x)) [[likely]] {
                in_place_ = std::move(x);
            } else {
                box_ = std::make_unique<T>(std::move(x));
            }
        } else {
            box_ = std::make_unique<T>(std::move(x));
        }
    }
    parked(parked&& other) noexcept = default;
    parked& operator=(parked&& other) noexcept = default;  // precondition: empty; under a lock
    ~parked() = default;

    /// Whether parking `x` allocates no memory.
    [[nodiscard]] static bool can_park_in_place(const T& x) noexcept {
        return is_always_in_place || (may_be_in_place && can_move_without_calls(x));
    }

    /// Precondition: has_value().
    [[nodiscard]] T& operator*() noexcept { return const_cast<T&>(std::as_const(*this).operator*()); }
    [[nodiscard]] const T& operator*() const noexcept {
        if constexpr (is_always_in_place) {
            return *in_place_;
        } else if constexpr (may_be_in_place) {
            return box_ != nullptr ? *box_ : in_place_;
        } else {
            return *box_;
        }
    }
    [[nodiscard]] bool has_value() const noexcept {
        if constexpr (is_always_in_place) {
            return in_place_.has_value();
        } else if constexpr (may_be_in_place) {
            return box_ != nullptr || !in_place_.empty();
        } else {
            return box_ != nullptr;
        }
    }

private:
    static constexpr bool is_always_in_place = std::is_trivially_copyable_v<T>;
    static constexpr bool may_be_in_place = has_type_erased_move<T> && is_empty_after_move<T>;
    struct nothing {};
    struct no_box {};

    [[no_unique_address]] std::conditional_t<is_always_in_place, std::optional<T>,
                                             std::conditional_t<may_be_in_place, T, nothing>>
        in_place_;
    [[no_unique_address]] std::conditional_t<is_always_in_place, no_box, std::unique_ptr<T>> box_;
};

/// Parks an element on behalf of its owner. The destructor moves the element back to the owner,
/// unless release() has taken it.
template <class T>
class loan : public parked<T> {
public:
    /// \throws std::bad_alloc, then `x` is untouched
    explicit loan(T& x) : parked<T>(x), owner_(x) {}
    loan(const loan&) = delete;
    loan& operator=(const loan&) = delete;
    ~loan() {
        if (this->has_value()) {
            move_back(owner_, **this);
        }
    }
    /// Under a lock: takes the element from the owner for good.
    [[nodiscard]] parked<T> release() noexcept {
        parked<T> out{static_cast<parked<T>&&>(*this)};
        if constexpr (std::is_trivially_copyable_v<T>) {
            static_cast<parked<T>&>(*this) = parked<T>{};
        }
        return out;
    }

private:
    T& owner_;
};

/// Appends the elements to `out`, which must have room for them. Not under a lock.
template <class T>
void unpack(std::vector<parked<T>>& elements, std::vector<T>& out) noexcept {
    for (parked<T>& x : elements) {
        out.push_back(std::move(*x));
    }
}

}  // namespace spool::inline v1::detail
