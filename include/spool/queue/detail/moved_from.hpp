// How elements move from place to place: what is left of one, and what a move may call.
#pragma once

#include <concepts>
#include <memory>
#include <utility>

namespace spool::inline v1 {
class task;
}

namespace spool::inline v1::detail {

/// Whose destructor has nothing to do after a move. Of a task we know it; other types are never asked, whatever members they have.
template <class T>
concept empty_after_move = std::same_as<T, task>;

template <class T>
void destroy_moved_from(T& x) noexcept {
    if constexpr (!empty_after_move<T>) {
        std::destroy_at(&x);
    }
}

/// A type whose objects say themselves whether a move of this one calls something that only it knows: a task. The usual way of a queue
/// is shorter without: what calls nothing has nothing to save before it. Of other types a move is what the compiler sees.
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
/// Whether an assignment destroys nothing that only the object knows.
template <class T>
[[nodiscard]] bool is_vacant(const T& x) noexcept {
    if constexpr (knows_how_it_moves<T>) {
        return x.empty();
    } else {
        return true;
    }
}

/// A move where moves_quickly() was answered with yes, and an assignment where is_vacant() was, too.
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
