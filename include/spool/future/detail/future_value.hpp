// The typed half of a future's shared state: the result, and the callable that produces it.
#pragma once

#include <atomic>
#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <variant>

#include "spool/base/callable.hpp"
#include "spool/detail/thread_sanitizer.hpp"
#include "spool/future/detail/future_core.hpp"

namespace spool::inline v1::detail {

/// How a result is stored: a value in place, a reference as a pointer, void as nothing.
template <class T>
using stored_result = std::conditional_t<
    std::is_void_v<T>, std::monostate,
    std::conditional_t<std::is_reference_v<T>, std::remove_reference_t<T>*, std::remove_cv_t<T>>>;

/// Where the outcome of a future<T> is stored. The thread that claimed the outcome writes it (I1).
template <class T>
class future_result {
public:
    using stored = stored_result<T>;

    template <class... Args>
    void emplace(Args&&... args) {
        value_.emplace(std::forward<Args>(args)...);
    }
    /// Precondition: the future has succeeded.
    [[nodiscard]] stored& value() noexcept { return *value_; }

    /// Moves the value out, for the first caller. \throws std::logic_error for every later caller
    [[nodiscard]] stored take_value() requires(!std::copy_constructible<stored>) {
        // relaxed, statistic: only the first exchange matters; the final word publishes the value
        if (taken_.flag.exchange(true, std::memory_order_relaxed)) {
            throw std::logic_error("future::get: the result was moved out by an earlier get()");
        }
        return std::move(*value_);
    }

private:
    struct taken {
        std::atomic<bool> flag{false};  // publishes nothing
    };
    struct never_taken {};

    std::optional<stored> value_;
    [[no_unique_address]] std::conditional_t<std::copy_constructible<stored>, never_taken, taken> taken_;
};
template <class T>
    requires std::is_void_v<T>
class future_result<T> {
public:
    void emplace(std::monostate = {}) const noexcept {}
};

/// Writes the result and publishes it. Precondition: the caller has claimed the outcome. If moving
/// the result throws, the future fails with that exception.
template <class T, class... Args>
void store_and_finish(future_core& state, future_result<T>& result, Args&&... args) {
    std::exception_ptr error;
    try {
        result.emplace(std::forward<Args>(args)...);
    } catch (...) {
        error = std::current_exception();
    }
    hand_over(&state);
    if (error == nullptr) {
        state.finish(phase::succeeded);
    } else {
        state.finish_failed(std::move(error));
    }
}

/// True if F stores a value that its call moves out; F::run() does the rest. See returning.
template <class F>
inline constexpr bool keeps_value = false;

/// The complete state, with the callable: the one allocation of submit(). Base: future_core, or a
/// kind of future_core that needs members of its own, whatever T is.
template <class T, class F, class Base = future_core>
class future_body : public Base {
public:
    template <class G>
    // NOLINTNEXTLINE(bugprone-forwarding-reference-overload): never made from another body
    explicit future_body(G&& f) {
        ::new (static_cast<void*>(&callable_)) F(std::forward<G>(f));
    }

protected:
    // The callable is destroyed already: every path to a final phase destroys it (I3).
    ~future_body() override { receive(this); }

    void run_body_and_forget() override {
        if constexpr (keeps_value<F>) {
            callable_.run();  // keeps the value for the run that returns it
        } else {
            static_cast<void>(call());
        }
    }

private:
    [[nodiscard]] const std::type_info& body_type() const noexcept override { return typeid(F); }
    [[nodiscard]] void* result() noexcept override { return &result_; }
    [[nodiscard]] const char* body_name() const noexcept override {
        if constexpr (task_traits<F>::has_kind) {
            return task_traits<F>::kind(callable_);
        } else {
            return nullptr;
        }
    }

    decltype(auto) call() {
        if constexpr (stoppable_callable<F>) {
            return std::invoke(callable_, task_scope::current_token());
        } else {
            return std::invoke(callable_);
        }
    }

    void run_body(task_scope& scope) override {
        receive_task(this->id());
        std::optional<stored_result<T>> result;
        std::exception_ptr error;
        try {
            if constexpr (std::is_void_v<T>) {
                static_cast<void>(call());
                result.emplace();
            } else if constexpr (std::is_reference_v<T>) {
                result.emplace(std::addressof(call()));
            } else {
                result.emplace(call());
            }
        } catch (...) {
            error = std::current_exception();
        }
        // Outside the catch block, so that this thread holds no reference to a published exception.
        if (error != nullptr) {
            hand_over(this);
            this->fail_after_run(scope, std::move(error));
        } else if (this->claim_after_run(scope)) {
            store_and_finish(*this, result_, *std::move(result));
        }
    }

    void destroy_callable() noexcept override {
        receive_task(this->id());
        callable_.~F();
    }

    [[no_unique_address]] future_result<T> result_;
    union {  // alive from the constructor to destroy_callable()
        F callable_;
    };
};

/// Owns the right to run a future's body. If it is destroyed before the body has run, the future is
/// cancelled.
class run_right {
public:
    explicit run_right(future_core& core) noexcept : core_(&core) {}
    run_right(run_right&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
    run_right& operator=(run_right&& other) noexcept {
        run_right taken{std::move(other)};
        std::swap(core_, taken.core_);  // `taken` drops the right that this object had
        return *this;
    }
    ~run_right() {
        if (core_ != nullptr) {
            hand_over(core_);
            core_->drop_runner();
        }
    }

    /// Gives up ownership of the right to run, without ending that right.
    void release() noexcept { core_ = nullptr; }
    [[nodiscard]] SPOOL_UNWATCHED task_id id() const noexcept { return core_->id(); }
    [[nodiscard]] SPOOL_UNWATCHED future_core* core() const noexcept { return core_; }

private:
    future_core* core_;
};

/// The callable of a future's task. It stores priority and due time itself, because the body's
/// callable may be destroyed while the task still waits in a queue.
class future_runner : public run_right {
public:
    future_runner(future_core* state, task_order order) noexcept : run_right(*state), order_(order) {
        state->priority = order.priority;
    }

    void operator()() { core()->run(); }
    [[nodiscard]] SPOOL_UNWATCHED int priority() const noexcept { return order_.priority; }
    [[nodiscard]] SPOOL_UNWATCHED due_time due() const noexcept { return order_.due; }

private:
    task_order order_;
};

template <>
struct task_traits<future_runner> : no_task_traits {
    static constexpr bool is_future_body = true;
    [[nodiscard]] SPOOL_UNWATCHED static task_id id(const future_runner& f) noexcept { return f.id(); }
    [[nodiscard]] SPOOL_UNWATCHED static void* shared_state(const future_runner& f) noexcept {
        return f.core();
    }
};

}  // namespace spool::inline v1::detail
