// task: the move-only callable that every queue and every pool carries.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "spool/base/callable.hpp"
#include "spool/base/export.hpp"
#include "spool/base/task_id.hpp"
#include "spool/base/task_scope.hpp"

namespace spool::inline v1 {

/// When a task may run at the earliest.
using due_time = std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>;

namespace detail {

inline constexpr std::size_t task_inline_size = 40;

template <class F>
concept has_priority = requires(const F& f) {
    { f.priority() } -> std::convertible_to<int>;
};
template <class F>
concept has_due_time = requires(const F& f) {
    { f.due() } -> std::convertible_to<due_time>;
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

// The body of a future: it takes over the scope that it is run in (see task_scope), has an id already, and tells
// its shared state to those who know what that is (see future_link).
template <class F>
concept brings_scope = requires(const F& f) {
    typename F::brings_task_scope;
    { f.id() } -> std::same_as<task_id>;
    { f.shared_state() } -> std::convertible_to<void*>;
};

// A callable that belongs to something, a task_group say: by it the group finds its own among the queued ones.
template <class F>
concept has_owner = requires(const F& f) {
    { f.owner() } -> std::convertible_to<const void*>;
};

// A callable that may be moved by copying its bytes and forgetting the source: trivially copyable, or it says so.
template <class F>
concept moves_as_bytes = std::is_trivially_copyable_v<F> ||
    (requires { F::moves_as_bytes; } && F::moves_as_bytes);

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
    void* (*shared_state)(const void* callable);  // null: not the body of a future
    const void* (*owner)(void* at) noexcept;      // null: nobody's
    const std::type_info* type;
    bool plain;  // see task::is_plain()
};

template <class F>
struct task_operations {
    static F& get(void* at) noexcept {
        if constexpr (fits_inline<F>) {
            return *std::launder(static_cast<F*>(at));
        } else {
            return **static_cast<F**>(at);
        }
    }
    static void invoke(void* at) {
        if constexpr (stoppable_callable<F>) {
            static_cast<void>(std::invoke(get(at), task_scope::current_token()));
        } else {
            static_cast<void>(std::invoke(get(at)));
        }
    }
    static void relocate(void* from, void* to) noexcept {
        F& source = get(from);
        ::new (to) F(std::move(source));
        // NOLINTNEXTLINE(bugprone-use-after-move): what a move leaves must be destroyed
        source.~F();
    }
    static void destroy(void* at) noexcept {
        if constexpr (fits_inline<F>) {
            get(at).~F();
        } else {
            delete &get(at);
        }
    }
    static void* callable(void* at) noexcept { return std::addressof(get(at)); }
    static int priority(const void* callable) { return static_cast<const F*>(callable)->priority(); }
    static due_time due(const void* callable) { return static_cast<const F*>(callable)->due(); }

    static void* shared_state(const void* callable) {
        return static_cast<const F*>(callable)->shared_state();
    }

    static const void* owner(void* at) noexcept { return get(at).owner(); }

    static constexpr task_table make_table() {
        task_table table{};
        table.invoke = &invoke;
        if constexpr (fits_inline<F> && !moves_as_bytes<F>) {
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
        if constexpr (has_owner<F>) {
            table.owner = &owner;
        }
        table.type = &typeid(F);
        if constexpr (brings_scope<F>) {
            table.shared_state = &shared_state;
        }
        table.plain = !brings_scope<F> && !has_due_time<F>;
        return table;
    }
};

template <class F>
inline constexpr task_table task_table_for = task_operations<F>::make_table();

}  // namespace detail

/// A move-only `void()`, 56 bytes: up to 40 bytes of callable inline, larger ones (and those whose move may
/// throw) on the heap.
///
///     spool::task hello = [] { std::puts("hello"); };
///     hello();
///
/// Any callable without parameters becomes a task, and any whose only parameter is a std::stop_token: it
/// gets the token of the task that runs. What the callable returns is dropped (submit() keeps it). A task made
/// from an empty std::function or a null pointer is itself empty.
///
/// A callable may tell more about itself: `int priority() const` and `due_time due() const` are answered by the
/// task. They are asked while the task waits in a queue, so they must be cheap and give the same answer each time.
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

    /// For queues: what is left after a move needs no destructor.
    static constexpr bool is_empty_after_move = true;
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
        } else if (this != &other) {
            // The old callable goes last: its destructor may look at this very task.
            task old{std::move(*this)};
            take(other);
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
        if constexpr (detail::brings_scope<Stored>) {
            id_ = detail::task_operations<Stored>::get(storage_).id();
        } else {
            id_ = detail::next_task_id();
        }
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

/// A callable with a priority; made by with_priority().
template <class F>
class prioritized {
public:
    prioritized(int priority, F f) : f_(std::move(f)), priority_(priority) {}

    decltype(auto) operator()() requires(!stoppable_callable<F> && std::invocable<F&>) {
        return std::invoke(f_);
    }
    decltype(auto) operator()(std::stop_token stop) requires stoppable_callable<F> {
        return std::invoke(f_, std::move(stop));
    }
    [[nodiscard]] int priority() const noexcept { return priority_; }
    [[nodiscard]] due_time due() const requires detail::has_due_time<F> { return f_.due(); }
    friend bool operator==(const prioritized& p, std::nullptr_t) noexcept {
        return detail::is_empty_callable(p.f_);
    }

private:
    F f_;
    int priority_;
};

/// `f`, whose task answers `priority` to task::priority(); kept through submit(). The greater goes first, in
/// queues that order by priority.
///
///     pool.submit(spool::with_priority(10, [] { return urgent(); }));
template <task_callable F>
[[nodiscard]] prioritized<std::decay_t<F>> with_priority(int priority, F&& f) {
    return {priority, std::forward<F>(f)};
}

}  // namespace spool::inline v1
