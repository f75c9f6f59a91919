// What is left of an element that was moved out of its place.
#pragma once

#include <memory>

namespace spool::inline v1::detail {

/// A type may say that its destructor has nothing to do after a move: `static constexpr bool is_empty_after_move = true`.
template <class T>
concept empty_after_move = requires {
    requires T::is_empty_after_move;
};

template <class T>
void destroy_moved_from(T& x) noexcept {
    if constexpr (!empty_after_move<T>) {
        std::destroy_at(&x);
    }
}

}  // namespace spool::inline v1::detail
