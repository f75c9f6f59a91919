// task_table: the type-erased operations of a task on its callable, and how they are derived from
// its type.
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
#include "spool/detail/task_scope.hpp"
#include "spool/detail/thread_sanitizer.hpp"

namespace spool::inline v1 {

/// The earliest time at which a task may run.
using due_time = std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>;

namespace detail {

inline constexpr std::size_t task_inline_size = 40;

template <class T>
inline constexpr bool is_steady_time = false;
template <class Duration>
inline constexpr bool is_steady_time<std::chrono::time_point<std::chrono::steady_clock, Duration>> =
    std::is_convertible_v<std::chrono::time_point<std::chrono::steady_clock, Duration>, due_time>;

template <class Result, class T>
concept exactly = std::same_as<std::remove_cvref_t<Result>, T>;
template <class Result>
concept steady_time = is_steady_time<std::remove_cvref_t<Result>>;

// Optional members of a user's callable; documented at task. A member with one of these names but
// another result type has another meaning, so it is ignored.
template <class F>
concept has_priority = requires(const F& f) {
    { f.priority() } -> exactly<int>;
};
template <class F>
concept has_due_time = requires(const F& f) {
    { f.due() } -> steady_time;
};
template <class F>
concept has_cancellation = requires(const F& f) {
    { f.is_cancelled() } -> exactly<bool>;
};

// The values that a callable reports through those members, or the defaults.
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

// Further properties of the library's own callables. Only the library specialises task_traits, so
// no member of a user's type is ever mistaken for one of these properties.
struct no_task_traits {
    // The callable is the body of a future: it adopts the scope that it runs in (see task_scope),
    // already has an id, and gives its shared state to future_link. Its traits have `id(f)` and
    // `shared_state(f)`.
    static constexpr bool is_future_body = false;
    // The callable belongs to an owner, such as a task_group. The owner finds its queued callables
    // by `owner(f)`.
    static constexpr bool has_owner = false;
    // A move may copy the bytes and abandon the source, even if F is not trivially copyable.
    static constexpr bool moves_as_bytes = false;
    // A task that holds the callable itself, not a future's body around it, skips the call once
    // `is_expired(f)` is true. See expires_at.
    static constexpr bool can_expire = false;
    // The callable was given a name by named(): `kind(f)` in static storage.
    static constexpr bool has_kind = false;
};
template <class F>
struct task_traits : no_task_traits {};

// A callable is stored inline only if its move cannot throw: the move of a task is noexcept.
template <class F>
inline constexpr bool fits_inline = sizeof(F) <= task_inline_size &&
                                    alignof(F) <= alignof(void*) && std::is_nothrow_move_constructible_v<F>;

// One table per callable type. `at` points to the 40 bytes of storage in the task.
struct task_table {
    void (*invoke)(void* at);
    void (*relocate)(void* from, void* to) noexcept;  // null: copy the bytes
    void (*destroy)(void* at) noexcept;               // null: nothing to destroy
    void* (*callable)(void* at) noexcept;
    int (*priority)(const void* callable);        // null: 0
    due_time (*due)(const void* callable);        // null: due_time::min()
    bool (*is_cancelled)(const void* callable);   // null: false
    void* (*shared_state)(const void* callable);  // null: not the body of a future
    const void* (*owner)(void* at) noexcept;      // null: no owner
    const char* (*kind)(const void* callable);    // null: named by its type
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
        if constexpr (task_traits<F>::can_expire) {
            if (task_traits<F>::is_expired(get(at))) {
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
        [[maybe_unused]] const unwatched_move watch{to};  // the id is at its destination already
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
        return task_traits<F>::shared_state(*static_cast<const F*>(callable));
    }

    static const char* kind(const void* callable) {
        return task_traits<F>::kind(*static_cast<const F*>(callable));
    }

    SPOOL_UNWATCHED static const void* owner(void* at) noexcept { return task_traits<F>::owner(get(at)); }

    static constexpr task_table make_table() {
        task_table table{};
        table.invoke = &invoke;
        if constexpr (fits_inline<F> && !std::is_trivially_copyable_v<F> && !task_traits<F>::moves_as_bytes) {
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
        if constexpr (task_traits<F>::has_owner) {
            table.owner = &owner;
        }
        if constexpr (task_traits<F>::has_kind) {
            table.kind = &kind;
        }
        table.type = &typeid(F);
        if constexpr (task_traits<F>::is_future_body) {
            table.shared_state = &shared_state;
        }
        table.plain = !task_traits<F>::is_future_body && !has_due_time<F>;
        return table;
    }
};

template <class F>
inline constexpr task_table task_table_for = task_operations<F>::make_table();

}  // namespace detail
}  // namespace spool::inline v1
