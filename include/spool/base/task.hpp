// task: the move-only callable that queues and pools carry.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstring>
#include <functional>
#include <new>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "spool/base/callable.hpp"
#include "spool/base/detail/task_table.hpp"
#include "spool/base/export.hpp"
#include "spool/base/task_id.hpp"
#include "spool/base/task_wrappers.hpp"
#include "spool/detail/task_scope.hpp"
#include "spool/detail/thread_sanitizer.hpp"

namespace spool::inline v1 {

/// A move-only `void()` of 56 bytes. A callable of up to 40 bytes is stored inline. A larger one,
/// or one whose move may throw, goes on the heap.
///
///     spool::task hello = [] { std::puts("hello"); };
///     hello();
///
/// A task can hold a callable without parameters, or one whose only parameter is a std::stop_token.
/// The latter gets the token of the task that runs. The task discards the callable's result;
/// submit() keeps it. A task made from a null pointer is empty, and so is one made from an object
/// that compares equal to nullptr by its own `==`, such as an empty std::function.
///
/// A callable may describe itself with three members, which its task forwards:
///
///     int priority() const       // greater goes first, in queues that order by priority
///     due_time due() const       // earliest time to run; any std::chrono::steady_clock time_point
///     bool is_cancelled() const  // purge() may remove it; for a submitted task its future says so
///
/// Queues call these members while the task waits. They must be cheap and must return the same
/// answer each time. The result type matters: the task ignores a `double priority()`, a `bool
/// priority()` or a `std::string due()`. No other member of a callable means anything to Spool.
///
/// Thread safety: like a plain value, one thread at a time. A move never throws and never
/// allocates; construction from a callable may allocate. A moved-from task is empty.
class task {
public:
    // NOLINTNEXTLINE(modernize-use-equals-default): a const task may be made without a value
    task() noexcept {}
    task(std::nullptr_t) noexcept {}

    template <class F>
        requires(!std::same_as<std::remove_cvref_t<F>, task> && task_callable<F>)
    task(F&& f) {  // implicit on purpose: for execute([] { ... })
        using stored = std::decay_t<F>;
        static_assert(std::is_constructible_v<stored, F> && std::is_move_constructible_v<stored>,
                      "the callable of a task must be movable (or copyable, if it is passed as an lvalue)");
        if (detail::is_empty_callable(f)) {
            return;
        }
        if constexpr (detail::fits_inline<stored>) {
            ::new (static_cast<void*>(storage_)) stored(std::forward<F>(f));
        } else {
            ::new (static_cast<void*>(storage_)) stored*(new stored(std::forward<F>(f)));
        }
        set_table_and_id<stored>();
    }
    /// Constructs the callable in place from `parts`.
    template <class Stored, class... Parts>
    explicit task(std::in_place_type_t<Stored>, Parts&&... parts) {
        if constexpr (detail::fits_inline<Stored>) {
            ::new (static_cast<void*>(storage_)) Stored{std::forward<Parts>(parts)...};
        } else {
            ::new (static_cast<void*>(storage_)) Stored*(new Stored{std::forward<Parts>(parts)...});
        }
        set_table_and_id<Stored>();
    }

    /// For queues: the task is not empty, and moving it calls no code of the callable.
    [[nodiscard]] bool moves_as_bytes() const noexcept {
        return table_ != nullptr && table_->relocate == nullptr;
    }
    task(task&& other) noexcept
        : table_(std::exchange(other.table_, nullptr)), id_(std::exchange(other.id_, 0)) {
        move_callable_from(other);
    }
    task& operator=(task&& other) noexcept {
        if (table_ == nullptr) [[likely]] {
            move_from(other);
        } else {
            replace_callable(other);
        }
        return *this;
    }
    task& operator=(std::nullptr_t) noexcept {
        task old{std::move(*this)};
        return *this;
    }
    ~task() { destroy(); }

    /// Destroys the callable in place. The task is empty afterwards, and while the destructor runs.
    /// Precondition: the callable's destructor cannot reach this task; otherwise assign nullptr.
    void clear() noexcept {
        const detail::task_table* const old = std::exchange(table_, nullptr);
        id_ = 0;
        if (old != nullptr && old->destroy != nullptr) {
            old->destroy(storage_);
        }
    }

    /// Calls the callable. It may be called again; the task destroys it.
    /// \throws std::bad_function_call if empty, and whatever the callable throws.
    void operator()() {
        if (table_ == nullptr) {
            throw std::bad_function_call{};
        }
        table_->invoke(storage_);
    }

    [[nodiscard]] bool empty() const noexcept { return table_ == nullptr; }
    explicit operator bool() const noexcept { return !empty(); }
    template <std::same_as<task> T>  // a template, so that no operand converts to a task
    friend bool operator==(const T& t, std::nullptr_t) noexcept {
        return t.empty();
    }

    /// The task's id: unique in the process, kept when the task is moved; 0 if empty. Ids increase
    /// within a thread. Across threads they say nothing about age: they come from per-thread
    /// blocks.
    [[nodiscard]] task_id id() const noexcept { return id_; }

    /// The callable's priority, or 0. The greater goes first.
    [[nodiscard]] int priority() const {
        return table_ == nullptr || table_->priority == nullptr ? 0 : table_->priority(callable());
    }

    /// The earliest time at which the task may run: the callable's answer, or due_time::min().
    [[nodiscard]] due_time due() const {
        return table_ == nullptr || table_->due == nullptr ? due_time::min() : table_->due(callable());
    }

    /// The callable's answer, or false. purge() asks, possibly on another thread.
    [[nodiscard]] bool is_cancelled() const {
        return table_ != nullptr && table_->is_cancelled != nullptr && table_->is_cancelled(callable());
    }

    /// The callable if it is an F, else null.
    template <class F>
    [[nodiscard]] F* target() noexcept {
        return is<F>() ? static_cast<F*>(callable()) : nullptr;
    }
    template <class F>
    [[nodiscard]] const F* target() const noexcept {
        return is<F>() ? static_cast<const F*>(callable()) : nullptr;
    }

    /// For pools: the task is not empty, is not the body of a future, and has no due time.
    [[nodiscard]] bool is_plain() const noexcept { return table_ != nullptr && table_->plain; }
    /// For executors: the callable adopts the scope that it runs in (see task_scope).
    [[nodiscard]] bool brings_scope() const noexcept { return shared_state() != nullptr; }
    /// For pools: the shared state of the future whose body this is, or null (see future_link).
    [[nodiscard]] void* shared_state() const noexcept {
        return table_ == nullptr || table_->shared_state == nullptr ? nullptr
                                                                    : table_->shared_state(callable());
    }

    /// For measurements: the name that named() gave the callable, or null; and the callable's type.
    /// Precondition: not empty.
    [[nodiscard]] const char* kind() const noexcept {
        return table_->kind == nullptr ? nullptr : table_->kind(callable());
    }
    [[nodiscard]] const std::type_info& type() const noexcept { return *table_->type; }

    /// For task_group: the owner of the callable, or null.
    [[nodiscard]] const void* owner() const noexcept {
        return table_ == nullptr || table_->owner == nullptr
                   ? nullptr
                   : table_->owner(const_cast<std::byte*>(storage_));
    }

private:
    template <class Stored>
    void set_table_and_id() {
        table_ = &detail::task_table_for<Stored>;
        if constexpr (detail::task_traits<Stored>::is_future_body) {
            id_ = detail::task_traits<Stored>::id(detail::task_operations<Stored>::get(storage_));
        } else {
            id_ = detail::next_task_id();
        }
        detail::hand_over_task(id_);
    }
    template <class F>
    [[nodiscard]] bool is() const noexcept {
        return table_ != nullptr && *table_->type == typeid(F);
    }
    [[nodiscard]] void* callable() const noexcept {
        return table_->callable(const_cast<std::byte*>(storage_));
    }

    void move_from(task& other) noexcept {
        table_ = std::exchange(other.table_, nullptr);
        id_ = std::exchange(other.id_, 0);
        move_callable_from(other);
    }
    // Out of line, so that the compiler inlines the usual assignment into the queues' pop (W3).
    [[gnu::noinline]] void replace_callable(task& other) noexcept {
        if (this != &other) {
            // The old callable is destroyed last: its destructor may access this task.
            task old{std::move(*this)};
            move_from(other);
        }
    }
    // Moves the callable from `other`. Precondition: table_ and id_ have been moved already.
    void move_callable_from(task& other) noexcept {
        if (table_ == nullptr) {
            return;
        }
        if (table_->relocate == nullptr) [[likely]] {
            std::memcpy(storage_, other.storage_, detail::task_inline_size);
        } else {
            table_->relocate(other.storage_, storage_);
        }
        detail::hand_over_task(id_);
    }
    void destroy() noexcept {
        if (table_ != nullptr && table_->destroy != nullptr) {
            table_->destroy(storage_);
        }
    }

    const detail::task_table* table_ = nullptr;  // null: empty
    task_id id_ = 0;
    alignas(void*) std::byte storage_[detail::task_inline_size];
};

static_assert(sizeof(task) == 56);
static_assert(std::is_nothrow_move_constructible_v<task> && std::is_nothrow_move_assignable_v<task>);

inline void task_scope::reset(const task& next) noexcept {
    reset();
    adoptable_ = next.brings_scope();
}

}  // namespace spool::inline v1
