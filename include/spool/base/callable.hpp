// What may be the body of a task: a callable without parameters, or with a std::stop_token as its
// only parameter.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <ranges>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "spool/base/export.hpp"

namespace spool::inline v1 {

/// F is called as `f(token)`. As with std::jthread, this form wins where `f()` would compile too.
template <class F>
concept stoppable_callable = (std::invocable<std::decay_t<F>&, std::stop_token>);

/// F can be a task: a decayed copy of F is called as `f(token)` or as `f()`. The concept does not
/// require that F can be copied or moved: that check would recurse for a callable that is itself
/// constructible from a task.
template <class F>
concept task_callable = (stoppable_callable<F> || std::invocable<std::decay_t<F>&>);

namespace detail {

/// Whether the elements of a `Range&&` may be moved: it is a container, passed as an rvalue.
template <class Range>
inline constexpr bool owns_elements =
    !std::is_lvalue_reference_v<Range> && !std::ranges::view<Range> && !std::ranges::borrowed_range<Range>;

/// Moves or copies an element of a `Range&&`.
template <class Range, class Element>
[[nodiscard]] constexpr decltype(auto) forward_element(Element&& element) noexcept {
    if constexpr (owns_elements<Range>) {
        return static_cast<std::remove_reference_t<Element>&&>(element);
    } else {
        return std::forward<Element>(element);
    }
}

template <class F>
struct task_result {
    using type = std::invoke_result_t<F&>;
};
template <stoppable_callable F>
struct task_result<F> {
    using type = std::invoke_result_t<F&, std::stop_token>;
};

// A type with an empty state: a pointer, or a wrapper such as std::function.
// Two kinds of type compare with nullptr and still do not count:
// - A lambda without captures, which converts to a function pointer and is never empty. Unary plus
//   uses the same conversion, so converts_to_pointer recognises such a lambda.
// - A type that compares only with another object of its own type, constructed from nullptr.
//   null_probe uses up the one user-defined conversion that this comparison needs.
struct null_probe {
    operator std::nullptr_t() const noexcept;  // never called
};
template <class F>
concept comparable_with_null = requires(const F& f, null_probe null) {
    { f == nullptr } -> std::convertible_to<bool>;
    { f == null } -> std::convertible_to<bool>;
};
template <class F>
concept converts_to_pointer = requires(const F& f) {
    +f;
};
template <class F>
concept nullable_callable = (std::is_pointer_v<F> || std::is_member_pointer_v<F> ||
                             (std::is_class_v<F> && comparable_with_null<F> && !converts_to_pointer<F>));

template <class F>
[[nodiscard]] constexpr bool is_empty_callable(const F& f) noexcept {
    if constexpr (nullable_callable<std::decay_t<F>>) {
        return static_cast<const std::decay_t<F>&>(f) == nullptr;
    } else {
        return false;
    }
}

/// Throws std::invalid_argument "<origin>: empty callable".
[[noreturn]] SPOOL_API void throw_empty_callable(std::string_view origin);

}  // namespace detail

/// The result type of the future for a task made from F.
template <task_callable F>
using task_result_t = typename detail::task_result<std::decay_t<F>>::type;

}  // namespace spool::inline v1
