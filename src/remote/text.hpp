// Text that every engine stores: valid UTF-8 without NUL.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace spool::inline v1::remote::detail {

inline constexpr std::size_t longest_error_text = 4096;

/// The length of the valid UTF-8 sequence at the start of `text`; zero if there is none.
inline std::size_t sequence_length(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned first = byte(0);
    if (first < 0x80) {
        return first == 0 ? 0 : 1;
    }
    const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < length) {
        return 0;
    }
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0U) != 0x80) {
            return 0;
        }
    }
    const unsigned second = byte(1);
    const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
    const bool beyond = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
    return overlong || beyond ? 0 : length;
}

inline bool is_clean(std::string_view text) noexcept {
    while (!text.empty()) {
        const std::size_t n = sequence_length(text);
        if (n == 0) {
            return false;
        }
        text.remove_prefix(n);
    }
    return true;
}

/// The text with a question mark for every byte that does not belong, cut at `limit`.
inline std::string cleaned(std::string_view text, std::size_t limit = longest_error_text) {
    std::string clean;
    while (!text.empty()) {
        const std::size_t n = sequence_length(text);
        if (clean.size() + (n == 0 ? 1 : n) > limit) {
            break;
        }
        clean += n == 0 ? std::string_view{"?"} : text.substr(0, n);
        text.remove_prefix(n == 0 ? 1 : n);
    }
    return clean;
}

}  // namespace spool::inline v1::remote::detail
