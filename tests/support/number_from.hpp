// number_from: a number that the user sets in the environment.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace test {

/// The value of the environment variable; `otherwise` if it is not set.
[[nodiscard]] inline std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* const text = std::getenv(variable);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace test
