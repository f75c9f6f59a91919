// function: a name and a signature that both sides know. A closure cannot travel; a name can.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "spool/base/export.hpp"
#include "spool/remote/job.hpp"

namespace spool::inline v1::remote {

/// The name of a type in a signature. Specialise it for a type of your own whose C++ name may
/// change or differ between programs:
///
///     template <> struct spool::remote::type_label<image_ref> {
///         static std::string text() { return "image_ref/2"; }
///     };
template <class T>
struct type_label {
    static std::string text() {
        if constexpr (std::is_void_v<T>) {
            return "void";
        } else if constexpr (std::is_same_v<T, bool>) {
            return "bool";
        } else if constexpr (std::is_integral_v<T>) {
            return (std::is_signed_v<T> ? "i" : "u") + std::to_string(8 * sizeof(T));
        } else if constexpr (std::is_floating_point_v<T>) {
            return "f" + std::to_string(8 * sizeof(T));
        } else {
            return typeid(T).name();
        }
    }
};
template <>
struct type_label<std::string> {
    static std::string text() { return "text"; }
};
template <>
struct type_label<bytes> {
    static std::string text() { return "bytes"; }
};
template <class T>
struct type_label<std::vector<T>> {
    static std::string text() { return "[" + type_label<T>::text() + "]"; }
};
template <class T>
struct type_label<std::optional<T>> {
    static std::string text() { return type_label<T>::text() + "?"; }
};
template <class T>
struct type_label<std::map<std::string, T>> {
    static std::string text() { return "{" + type_label<T>::text() + "}"; }
};

namespace detail {
/// A hash that is the same in every program: FNV-1a, 64 bits.
[[nodiscard]] SPOOL_API std::uint64_t signature_hash(std::string_view text) noexcept;
}  // namespace detail

template <class Signature>
class function;

/// A remote function: what a submitter names and a worker implements. SPOOL_REMOTE declares one.
template <class R, class... Args>
class function<R(Args...)> {
    static_assert(!std::is_reference_v<R> && !std::is_pointer_v<R>,
                  "a remote function returns a value: references and pointers do not travel");
    static_assert(((!std::is_pointer_v<std::decay_t<Args>>)&&...),
                  "a remote function takes values: pointers do not travel");

public:
    using result_type = R;
    using argument_types = std::tuple<std::decay_t<Args>...>;

    explicit constexpr function(std::string_view name) noexcept : name_(name) {}
    [[nodiscard]] constexpr std::string_view name() const noexcept { return name_; }
    /// For people: "i32(text,i32)".
    [[nodiscard]] static std::string signature_text() {
        std::string text = type_label<R>::text() + "(";
        std::size_t n = 0;
        ((text += (n++ == 0 ? "" : ",") + type_label<std::decay_t<Args>>::text()), ...);
        return text + ")";
    }
    /// Travels with every job; a worker refuses a job whose hash is not its own.
    [[nodiscard]] static std::uint64_t signature() {
        static const std::uint64_t hash = detail::signature_hash(signature_text());
        return hash;
    }

private:
    std::string_view name_;
};

}  // namespace spool::inline v1::remote

/// Declares a remote function, at namespace scope, in a header that both sides include:
///
///     SPOOL_REMOTE(thumbnail, std::string(std::string url, int width));
///
/// The signature comes last because it may contain commas.
#define SPOOL_REMOTE(name, ...)                                                                              \
    inline constexpr ::spool::remote::function<__VA_ARGS__> name {                                           \
#name                                                                                                \
    }
