// task_table: what a task knows of its callable, and how it learns that from the callable's type.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "spool/base/callable.hpp"
#include "spool/base/task_scope.hpp"
#include "spool/base/thread_sanitizer.hpp"

namespace spool::inline v1 {

/// When a task may run at the earliest.
using due_time = std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>;

namespace detail {

inline constexpr std::size_t task_inline_size = 40;

template <class T>
inline constexpr bool is_steady_time = false;
template <class Duration>
inline constexpr bool is_steady_time<std::chrono::time_point<std::chrono::steady_clock, Duration>> =
    std::is_convertible_v<std::chrono::time_point<std::chrono::steady_clock, Duration>, due_time>;

template <class Result, class T>
concept a_plain = std::same_as<std::remove_cvref_t<Result>, T>;
template <class Result>
concept a_steady_time = is_steady_time<std::remove_cvref_t<Result>>;

// What a user's callable may tell of itself; documented at task. A member of that name with another result
// type is ignored: it has another meaning.
template <class F>
concept has_priority = requires(const F& f) {
    { f.priority() } -> a_plain<int>;
};
template <class F>
concept has_due_time = requires(const F& f) {
    { f.due() } -> a_steady_time;
};
template <class F>
concept has_cancellation = requires(const F& f) {
    { f.is_cancelled() } -> a_plain<bool>;
};

// What a callable tells of itself.
struct task_order {
    int priority = 0;
    due_time due = due_time::min();
};
template <class F>
[[nodiscard]] task_order order_of(const F& f) {
    task_order order;
    if constexpr (has_priority<F>) {
        order.priority = f.priority();
    }
    if constexpr (has_due_time<F>) {
        order.due = f.due();
    }
    return order;
}

// What the library's own callables tell their tasks besides. The library specialises task_marks for them, and nobody else does: no
// member of a user's type is ever taken for one of these.
struct no_task_marks {
    // The body of a future: it takes over the scope that it runs in (see task_scope), has an id already, and
    // tells its shared state to future_link. It has `id(f)` and `shared_state(f)`.
    static constexpr bool is_future_body = false;
    // The callable belongs to something, a task_group say, which finds it by `owner(f)` among the queued ones.
    static constexpr bool has_owner = false;
    // A move may copy the bytes and forget the source, although the type is not trivially copyable.
    static constexpr bool moves_as_bytes = false;
    // A plain task does not call it once `is_expired(f)`. See expires_at.
    static constexpr bool can_expire = false;
};
template <class F>
struct task_marks : no_task_marks {};

// Only what moves without throwing stays inline: a task's own move is noexcept.
template <class F>
inline constexpr bool fits_inline = sizeof(F) <= task_inline_size &&
                                    alignof(F) <= alignof(void*) && std::is_nothrow_move_constructible_v<F>;

// One per callable type: all that a task knows of its callable. `at` points to the task's 40 bytes.
struct task_table {
    void (*invoke)(void* at);
    void (*relocate)(void* from, void* to) noexcept;  // null: copy the bytes
    void (*destroy)(void* at) noexcept;               // null: nothing to do
    void* (*callable)(void* at) noexcept;
    int (*priority)(const void* callable);        // null: 0
    due_time (*due)(const void* callable);        // null: at once
    bool (*is_cancelled)(const void* callable);   // null: no
    void* (*shared_state)(const void* callable);  // null: not the body of a future
    const void* (*owner)(void* at) noexcept;      // null: nobody's
    const std::type_info* type;
    bool plain;  // see task::is_plain()
};

template <class F>
struct task_operations {
    SPOOL_UNWATCHED static F& get(void* at) noexcept {
        if constexpr (fits_inline<F>) {
            return *std::launder(static_cast<F*>(at));
        } else {
            return **static_cast<F**>(at);
        }
    }
    static void invoke(void* at) {
        [[maybe_unused]] const task_watch watch{at};
        if constexpr (task_marks<F>::can_expire) {
            if (task_marks<F>::is_expired(get(at))) {
                return;
            }
        }
        if constexpr (stoppable_callable<F>) {
            static_cast<void>(std::invoke(get(at), task_scope::current_token()));
        } else {
            static_cast<void>(std::invoke(get(at)));
        }
    }
    static void relocate(void* from, void* to) noexcept {
        [[maybe_unused]] const unwatched_move watch{to};  // the id has been moved already
        F& source = get(from);
        ::new (to) F(std::move(source));
        // NOLINTNEXTLINE(bugprone-use-after-move): what a move leaves must be destroyed
        source.~F();
    }
    static void destroy(void* at) noexcept {
        [[maybe_unused]] const task_watch watch{at};
        if constexpr (fits_inline<F>) {
            get(at).~F();
        } else {
            delete &get(at);
        }
    }
    static void* callable(void* at) noexcept {
        [[maybe_unused]] const task_watch watch{at};
        return std::addressof(get(at));
    }
    static int priority(const void* callable) { return static_cast<const F*>(callable)->priority(); }
    static due_time due(const void* callable) { return static_cast<const F*>(callable)->due(); }
    static bool is_cancelled(const void* callable) { return static_cast<const F*>(callable)->is_cancelled(); }

    SPOOL_UNWATCHED static void* shared_state(const void* callable) {
        return task_marks<F>::shared_state(*static_cast<const F*>(callable));
    }

    SPOOL_UNWATCHED static const void* owner(void* at) noexcept { return task_marks<F>::owner(get(at)); }

    static constexpr task_table make_table() {
        task_table table{};
        table.invoke = &invoke;
        if constexpr (fits_inline<F> && !std::is_trivially_copyable_v<F> && !task_marks<F>::moves_as_bytes) {
            table.relocate = &relocate;
        }
        if constexpr (!fits_inline<F> || !std::is_trivially_destructible_v<F>) {
            table.destroy = &destroy;
        }
        table.callable = &callable;
        if constexpr (has_priority<F>) {
            table.priority = &priority;
        }
        if constexpr (has_due_time<F>) {
            table.due = &due;
        }
        if constexpr (has_cancellation<F>) {
            table.is_cancelled = &is_cancelled;
        }
        if constexpr (task_marks<F>::has_owner) {
            table.owner = &owner;
        }
        table.type = &typeid(F);
        if constexpr (task_marks<F>::is_future_body) {
            table.shared_state = &shared_state;
        }
        table.plain = !task_marks<F>::is_future_body && !has_due_time<F>;
        return table;
    }
};

template <class F>
inline constexpr task_table task_table_for = task_operations<F>::make_table();

}  // namespace detail
}  // namespace spool::inline v1
