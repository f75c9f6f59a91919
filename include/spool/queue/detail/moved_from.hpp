// How elements move: what a move leaves behind, and what code it may call.
#pragma once

#include <concepts>
#include <memory>
#include <utility>

namespace spool::inline v1 {
class task;
}

namespace spool::inline v1::detail {

/// Types whose destructor has nothing to do after a move. Only task is known to be one; the concept
/// never asks other types, whatever members they have.
template <class T>
concept empty_after_move = std::same_as<T, task>;

template <class T>
void destroy_moved_from(T& x) noexcept {
    if constexpr (!empty_after_move<T>) {
        std::destroy_at(&x);
    }
}

/// A type whose objects know whether their move calls type-erased code: task. A queue's fast path
/// is shorter without such a call, because a path that calls nothing saves no registers. For other
/// types the compiler sees what a move does.
template <class T>
concept knows_how_it_moves = std::same_as<T, task>;

template <class T>
[[nodiscard]] bool moves_quickly(const T& x) noexcept {
    if constexpr (knows_how_it_moves<T>) {
        return x.moves_as_bytes();
    } else {
        return true;
    }
}
/// Whether an assignment to `x` destroys no type-erased callable.
template <class T>
[[nodiscard]] bool is_vacant(const T& x) noexcept {
    if constexpr (knows_how_it_moves<T>) {
        return x.empty();
    } else {
        return true;
    }
}

/// A move that the compiler may treat as free of calls. Precondition: moves_quickly() of the
/// source, and for quick_assign() also is_vacant(to).
template <class T>
[[nodiscard]] T&& quick_move(T& x) noexcept {
    if (!moves_quickly(x)) {
        __builtin_unreachable();
    }
    return std::move(x);
}
template <class T>
void quick_assign(T& to, T& from) noexcept {
    if (!is_vacant(to)) {
        __builtin_unreachable();
    }
    to = quick_move(from);
}

}  // namespace spool::inline v1::detail
