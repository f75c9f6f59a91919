// function_ref: a callable passed down a call, two pointers, no ownership.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>

namespace spool::inline v1 {

template <class Signature>
class function_ref;

/// Refers to a callable that outlives the call it is passed to. For virtual functions that take a predicate.
template <class R, class... Args>
class function_ref<R(Args...)> {
public:
    /// Implicit on purpose: it stands for the callable in an argument list.
    template <class F>
        requires(!std::same_as<std::remove_cvref_t<F>, function_ref> && std::is_invocable_r_v<R, F&, Args...>)
    function_ref(F&& f)
    noexcept
        : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
          call_([](void* object, Args... args) -> R {
              return std::invoke(*static_cast<std::remove_reference_t<F>*>(object),
                                 std::forward<Args>(args)...);
          }) {}

    R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

private:
    void* object_;
    R (*call_)(void*, Args...);
};

}  // namespace spool::inline v1
