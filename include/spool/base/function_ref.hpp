// function_ref: a non-owning reference to a callable, for parameters. It is two pointers.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace spool::inline v1 {

template <class Signature>
class function_ref;

/// Refers to a callable that must outlive the function_ref. For virtual functions with a predicate.
template <class R, class... Args>
class function_ref<R(Args...)> {
public:
    /// Implicit on purpose: callers pass the callable itself as the argument.
    template <class F>
        requires(!std::same_as<std::remove_cvref_t<F>, function_ref> && std::is_invocable_r_v<R, F&, Args...>)
    function_ref(F&& f)
    noexcept {
        using target = std::remove_reference_t<F>;
        if constexpr (std::is_function_v<target>) {
            target_.function = reinterpret_cast<void (*)()>(std::addressof(f));
            call_ = [](referent t, Args... args) -> R {
                return call(*reinterpret_cast<target*>(t.function), std::forward<Args>(args)...);
            };
        } else {
            target_.object = const_cast<void*>(static_cast<const void*>(std::addressof(f)));
            call_ = [](referent t, Args... args) -> R {
                return call(*static_cast<target*>(t.object), std::forward<Args>(args)...);
            };
        }
    }

    R operator()(Args... args) const { return call_(target_, std::forward<Args>(args)...); }

private:
    union referent {
        void* object;
        void (*function)();
    };
    template <class F>
    static R call(F& f, Args... args) {
        if constexpr (std::is_void_v<R>) {
            static_cast<void>(std::invoke(f, std::forward<Args>(args)...));
        } else {
            return std::invoke(f, std::forward<Args>(args)...);
        }
    }

    referent target_{};
    R (*call_)(referent, Args...);
};

}  // namespace spool::inline v1
