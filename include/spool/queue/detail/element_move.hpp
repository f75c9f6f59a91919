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
concept is_empty_after_move = std::same_as<T, task>;

template <class T>
void destroy_moved_from(T& x) noexcept {
    if constexpr (!is_empty_after_move<T>) {
        std::destroy_at(&x);
    }
}

/// A type whose objects know whether their move calls type-erased code: task. A queue's fast path
/// is shorter without such a call, because a path that calls nothing saves no registers. For other
/// types the compiler sees what a move does.
template <class T>
concept has_type_erased_move = std::same_as<T, task>;

template <class T>
[[nodiscard]] bool can_move_without_calls(const T& x) noexcept {
    if constexpr (has_type_erased_move<T>) {
        return x.moves_as_bytes();
    } else {
        return true;
    }
}
/// Whether an assignment to `x` destroys no type-erased callable.
template <class T>
[[nodiscard]] bool can_assign_without_calls(const T& x) noexcept {
    if constexpr (has_type_erased_move<T>) {
        return x.empty();
    } else {
        return true;
    }
}

/// A move that the compiler may treat as free of calls. Precondition: can_move_without_calls() of
/// the source, and for assign_without_calls() also can_assign_without_calls(to).
template <class T>
[[nodiscard]] T&& move_without_calls(T& x) noexcept {
    if (!can_move_without_calls(x)) {
        __builtin_unreachable();
    }
    return std::move(x);
}
template <class T>
void assign_without_calls(T& to, T& from) noexcept {
    if (!can_assign_without_calls(to)) {
        __builtin_unreachable();
    }
    to = move_without_calls(from);
}

}  // namespace spool::inline v1::detail
