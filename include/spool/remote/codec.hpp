// codec: how arguments and results become bytes. The default is CBOR by nlohmann-json, so a type
// with to_json() and from_json() can travel; specialise codec<T> for another form.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "spool/base/export.hpp"
#include "spool/remote/error.hpp"
#include "spool/remote/job.hpp"

namespace spool::inline v1::remote {

/// What the scan before decoding accepts.
struct codec_limits {
    std::size_t size = std::size_t{1} << 20U;
    std::size_t depth = 64;
};

/// Checks that `data` is one well-formed CBOR item within the limits, in the subset that travels:
/// no
/// tags, no indefinite lengths, maps with distinct text keys, no bytes behind the item. It uses a
/// stack of its own and allocates no more than the data's size, whatever the data claim.
/// \throws codec_error naming the offset and the reason
SPOOL_API void check_cbor(std::span<const std::uint8_t> data, const codec_limits& limits = {});

namespace detail {
using json = nlohmann::json;
/// check_cbor(), then the value. \throws codec_error
[[nodiscard]] SPOOL_API json parse_cbor(std::span<const std::uint8_t> data, const codec_limits& limits);
[[noreturn]] SPOOL_API void throw_wrong_type(const char* wanted, const json& value);
}  // namespace detail

/// How a T becomes JSON and back. decode() throws if the value is not a T.
template <class T>
struct codec {
    static nlohmann::json encode(const T& value) { return nlohmann::json(value); }
    static T decode(const nlohmann::json& value) { return value.template get<T>(); }
};

/// Integers are checked: a value out of range is an error, never another number.
template <std::integral T>
    requires(!std::same_as<T, bool>)
struct codec<T> {
    static nlohmann::json encode(T value) { return nlohmann::json(value); }
    static T decode(const nlohmann::json& value) {
        if (value.is_number_unsigned()) {
            const auto wide = value.get<std::uint64_t>();
            if (std::in_range<T>(wide)) {
                return static_cast<T>(wide);
            }
        } else if (value.is_number_integer()) {
            const auto wide = value.get<std::int64_t>();
            if (std::in_range<T>(wide)) {
                return static_cast<T>(wide);
            }
        }
        detail::throw_wrong_type("an integer in range", value);
    }
};

/// Floating point keeps infinities and NaN.
template <std::floating_point T>
struct codec<T> {
    static nlohmann::json encode(T value) { return nlohmann::json(value); }
    static T decode(const nlohmann::json& value) {
        if (!value.is_number()) {
            detail::throw_wrong_type("a number", value);
        }
        return value.get<T>();
    }
};

template <class T>
struct codec<std::vector<T>> {
    static nlohmann::json encode(const std::vector<T>& values) {
        nlohmann::json array = nlohmann::json::array();
        for (const T& value : values) {
            array.push_back(codec<T>::encode(value));
        }
        return array;
    }
    static std::vector<T> decode(const nlohmann::json& value) {
        if (!value.is_array()) {
            detail::throw_wrong_type("an array", value);
        }
        std::vector<T> values;
        values.reserve(value.size());
        for (const nlohmann::json& element : value) {
            values.push_back(codec<T>::decode(element));
        }
        return values;
    }
};

/// Bytes travel as a byte string.
template <>
struct codec<bytes> {
    static nlohmann::json encode(const bytes& value) { return nlohmann::json::binary(value); }
    static bytes decode(const nlohmann::json& value) {
        if (!value.is_binary()) {
            detail::throw_wrong_type("a byte string", value);
        }
        return value.get_binary();
    }
};

template <class T>
struct codec<std::optional<T>> {
    static nlohmann::json encode(const std::optional<T>& value) {
        return value ? nlohmann::json::array({codec<T>::encode(*value)}) : nlohmann::json();
    }
    static std::optional<T> decode(const nlohmann::json& value) {
        if (value.is_null()) {
            return std::nullopt;
        }
        if (!value.is_array() || value.size() != 1) {
            detail::throw_wrong_type("null or an array of one", value);
        }
        return codec<T>::decode(value[0]);
    }
};

/// The bytes of one value.
template <class T>
[[nodiscard]] bytes encode(const T& value) {
    return nlohmann::json::to_cbor(codec<T>::encode(value));
}

/// The value of these bytes. \throws codec_error
template <class T>
[[nodiscard]] T decode(std::span<const std::uint8_t> data, const codec_limits& limits = {}) {
    const nlohmann::json value = detail::parse_cbor(data, limits);
    try {
        return codec<T>::decode(value);
    } catch (const nlohmann::json::exception& e) {
        throw codec_error(e.what());
    }
}

namespace detail {

template <class... Args>
[[nodiscard]] bytes encode_arguments(const Args&... args) {
    json array = json::array();
    array.get_ref<json::array_t&>().reserve(sizeof...(Args));
    (array.push_back(codec<Args>::encode(args)), ...);
    return json::to_cbor(array);
}

/// \throws codec_error
template <class... Args>
[[nodiscard]] std::tuple<Args...> decode_arguments(std::span<const std::uint8_t> data,
                                                   const codec_limits& limits) {
    const json array = parse_cbor(data, limits);
    if (!array.is_array() || array.size() != sizeof...(Args)) {
        throw_wrong_type(("an array of " + std::to_string(sizeof...(Args)) + " argument(s)").c_str(), array);
    }
    try {
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
            return std::tuple<Args...>{codec<Args>::decode(array[I])...};
        }
        (std::index_sequence_for<Args...>{});
    } catch (const json::exception& e) {
        throw codec_error(e.what());
    }
}

}  // namespace detail
}  // namespace spool::inline v1::remote
