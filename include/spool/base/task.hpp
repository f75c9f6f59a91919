// task: the move-only callable that every queue and every pool carries.
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
#include "spool/base/task_scope.hpp"
#include "spool/base/task_wrappers.hpp"
#include "spool/base/thread_sanitizer.hpp"

namespace spool::inline v1 {

/// A move-only `void()`, 56 bytes: up to 40 bytes of callable inline, larger ones (and those whose move may
/// throw) on the heap.
///
///     spool::task hello = [] { std::puts("hello"); };
///     hello();
///
/// Any callable without parameters becomes a task, and any whose only parameter is a std::stop_token: it
/// gets the token of the task that runs. What the callable returns is dropped (submit() keeps it). A task made
/// from a null pointer, or from an object whose own `==` says that it equals nullptr (an empty std::function),
/// is itself empty.
///
/// A callable may tell more about itself by three members, which its task answers:
///
///     int priority() const       // the greater goes first, in queues that order by priority
///     due_time due() const       // when it may run at the earliest; any time_point of std::chrono::steady_clock
///     bool is_cancelled() const  // purge() may take it out of the queue (of a submitted one its future says so)
///
/// Queues ask them while the task waits, so they must be cheap and give the same answer each time. The result
/// type counts: a `double priority()`, a `bool priority()` or a `std::string due()` is the callable's own affair,
/// and the task ignores it. No other member of a callable means anything to Spool.
///
/// Thread safety: as for a plain value; one thread at a time. Moving never throws and never allocates; making
/// one from a callable may allocate. A moved-from task is empty.
class task {
public:
    // NOLINTNEXTLINE(modernize-use-equals-default): a const task may be made without a value
    task() noexcept {}
    task(std::nullptr_t) noexcept {}

    template <class F>
        requires(!std::same_as<std::remove_cvref_t<F>, task> && task_callable<F>)
    task(F&& f) {  // implicit on purpose: execute([] { ... }) must read like that
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
        name_it<stored>();
    }
    /// The callable is made where it stays, from its parts.
    template <class Stored, class... Parts>
    explicit task(std::in_place_type_t<Stored>, Parts&&... parts) {
        if constexpr (detail::fits_inline<Stored>) {
            ::new (static_cast<void*>(storage_)) Stored{std::forward<Parts>(parts)...};
        } else {
            ::new (static_cast<void*>(storage_)) Stored*(new Stored{std::forward<Parts>(parts)...});
        }
        name_it<Stored>();
    }

    /// For queues: there is a callable, and to move it calls nothing.
    [[nodiscard]] bool moves_as_bytes() const noexcept {
        return table_ != nullptr && table_->relocate == nullptr;
    }
    task(task&& other) noexcept
        : table_(std::exchange(other.table_, nullptr)), id_(std::exchange(other.id_, 0)) {
        take_callable(other);
    }
    task& operator=(task&& other) noexcept {
        if (table_ == nullptr) [[likely]] {
            take(other);
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

    /// Destroys the callable where it is; the task is empty afterwards, and already while it goes. For owners that no destructor of
    /// a callable can reach; else assign nullptr.
    void clear() noexcept {
        const detail::task_table* const old = std::exchange(table_, nullptr);
        id_ = 0;
        if (old != nullptr && old->destroy != nullptr) {
            old->destroy(storage_);
        }
    }

    /// Calls the callable. It may be called again; it is destroyed with the task.
    /// \throws std::bad_function_call if empty, and whatever the callable throws.
    void operator()() {
        if (table_ == nullptr) {
            throw std::bad_function_call{};
        }
        table_->invoke(storage_);
    }

    [[nodiscard]] bool empty() const noexcept { return table_ == nullptr; }
    explicit operator bool() const noexcept { return !empty(); }
    template <std::same_as<task> T>  // a template, so that nothing is converted to a task to be compared
    friend bool operator==(const T& t, std::nullptr_t) noexcept {
        return t.empty();
    }

    /// Unique in the process, kept when the task is moved; 0 if empty. Ids of one thread increase, but they come
    /// from per-thread blocks: across threads they say nothing about age.
    [[nodiscard]] task_id id() const noexcept { return id_; }

    /// What the callable answers, else 0. The greater goes first.
    [[nodiscard]] int priority() const {
        return table_ == nullptr || table_->priority == nullptr ? 0 : table_->priority(callable());
    }

    /// When the task may run at the earliest: what the callable answers, else the beginning of time.
    [[nodiscard]] due_time due() const {
        return table_ == nullptr || table_->due == nullptr ? due_time::min() : table_->due(callable());
    }

    /// What the callable answers, else false. It is asked by purge(), possibly on another thread.
    [[nodiscard]] bool is_cancelled() const {
        return table_ != nullptr && table_->is_cancelled != nullptr && table_->is_cancelled(callable());
    }

    /// The callable, if it is an F; else null.
    template <class F>
    [[nodiscard]] F* target() noexcept {
        return is<F>() ? static_cast<F*>(callable()) : nullptr;
    }
    template <class F>
    [[nodiscard]] const F* target() const noexcept {
        return is<F>() ? static_cast<const F*>(callable()) : nullptr;
    }

    /// For pools: there is a callable, and it is neither the body of a future nor has a due time.
    [[nodiscard]] bool is_plain() const noexcept { return table_ != nullptr && table_->plain; }
    /// For writers of executors: the callable will take over the scope that it is run in (see task_scope).
    [[nodiscard]] bool brings_scope() const noexcept { return shared_state() != nullptr; }
    /// For pools: the shared state of the future whose body this is, or null (see future_link).
    [[nodiscard]] void* shared_state() const noexcept {
        return table_ == nullptr || table_->shared_state == nullptr ? nullptr
                                                                    : table_->shared_state(callable());
    }

    /// For task_group: what the callable belongs to, or null.
    [[nodiscard]] const void* owner() const noexcept {
        return table_ == nullptr || table_->owner == nullptr
                   ? nullptr
                   : table_->owner(const_cast<std::byte*>(storage_));
    }

private:
    template <class Stored>
    void name_it() {
        table_ = &detail::task_table_for<Stored>;
        if constexpr (detail::task_marks<Stored>::is_future_body) {
            id_ = detail::task_marks<Stored>::id(detail::task_operations<Stored>::get(storage_));
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

    void take(task& other) noexcept {
        table_ = std::exchange(other.table_, nullptr);
        id_ = std::exchange(other.id_, 0);
        take_callable(other);
    }
    // Out of line, so that the compiler inlines the usual assignment into the queues' pop (W3).
    [[gnu::noinline]] void replace_callable(task& other) noexcept {
        if (this != &other) {
            // The old callable goes last: its destructor may look at this very task.
            task old{std::move(*this)};
            take(other);
        }
    }
    // The table is here already.
    void take_callable(task& other) noexcept {
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
    reset_for(next.brings_scope());
}

}  // namespace spool::inline v1
