// What counts as a task's body: a callable without parameters, or one whose only parameter is the stop token.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "spool/base/export.hpp"

namespace spool::inline v1 {

/// F is called as `f(token)`. As with std::jthread, this wins where both forms would compile.
template <class F>
concept stoppable_callable = (std::invocable<std::decay_t<F>&, std::stop_token>);

/// F can be a task: a decayed copy of it is called as `f(token)` or as `f()`. (That it can be copied or moved is no part
/// of the concept: asking would go round in a circle for a callable that is itself constructible from a task.)
template <class F>
concept task_callable = (stoppable_callable<F> || std::invocable<std::decay_t<F>&>);

namespace detail {

template <class F>
struct task_result {
    using type = std::invoke_result_t<F&>;
};
template <stoppable_callable F>
struct task_result<F> {
    using type = std::invoke_result_t<F&, std::stop_token>;
};

// A type with an empty state of its own: a pointer, or a wrapper such as std::function. A lambda without
// captures compares with nullptr too, through its conversion to a pointer, but it is never empty: unary plus,
// which works by the same conversion, tells it. Nor does a type count that compares only with another object of its own, made
// from nullptr: just_null spends the one conversion that this would need.
struct just_null {
    operator std::nullptr_t() const noexcept;  // never called
};
template <class F>
concept comparable_with_null = requires(const F& f, just_null null) {
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

/// Throws std::invalid_argument: `who: empty callable`.
[[noreturn]] SPOOL_API void throw_empty_callable(std::string_view who);

}  // namespace detail

/// What the future of a task made from F holds.
template <task_callable F>
using task_result_t = typename detail::task_result<std::decay_t<F>>::type;

}  // namespace spool::inline v1
