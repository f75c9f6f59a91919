#include "json_place.hpp"

#include <algorithm>

namespace spool::lab {
namespace {

// Walks over valid JSON, one value at a time.
class walker {
public:
    explicit walker(std::string_view text) : text_(text) {}

    [[nodiscard]] std::size_t at() const noexcept { return at_; }

    // Moves to the member or element that the step names; false if the value here has none.
    bool enter(const std::variant<std::string, std::size_t>& step) {
        skip_blank();
        const bool by_name = std::holds_alternative<std::string>(step);
        if (peek() != (by_name ? '{' : '[')) {
            return false;
        }
        ++at_;
        for (std::size_t index = 0; more(); ++index) {
            if (by_name) {
                const std::string name = string();
                skip_blank();
                ++at_;  // the colon
                skip_blank();
                if (name == std::get<std::string>(step)) {
                    return true;
                }
            } else if (index == std::get<std::size_t>(step)) {
                return true;
            }
            skip_value();
        }
        return false;
    }
    void skip_blank() {
        while (at_ < text_.size() && std::string_view{" \t\r\n"}.find(text_[at_]) != std::string_view::npos) {
            ++at_;
        }
    }

private:
    [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

    // Moves to the next member or element; false at the end of the enclosing value.
    bool more() {
        skip_blank();
        if (peek() == ',') {
            ++at_;
            skip_blank();
        }
        return peek() != '}' && peek() != ']' && peek() != '\0';
    }
    // Returns the string without decoding escapes: no field name of ours has one.
    std::string string() {
        const std::size_t begin = ++at_;
        while (peek() != '"' && peek() != '\0') {
            at_ += peek() == '\\' ? 2U : 1U;
        }
        return std::string{text_.substr(begin, at_++ - begin)};
    }
    void skip_value() {
        skip_blank();
        if (peek() == '"') {
            string();
        } else if (peek() == '{' || peek() == '[') {
            const bool named = peek() == '{';
            ++at_;
            while (more()) {
                if (named) {
                    string();
                    skip_blank();
                    ++at_;
                }
                skip_value();
            }
            ++at_;
        } else {
            while (std::string_view{",]} \t\r\n"}.find(peek()) == std::string_view::npos && peek() != '\0') {
                ++at_;
            }
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace

std::string to_text(const json_path& path) {
    std::string text;
    for (const auto& step : path) {
        if (const auto* name = std::get_if<std::string>(&step)) {
            text += text.empty() ? "" : ".";
            text += *name;
        } else {
            text += '[';
            text += std::to_string(std::get<std::size_t>(step));
            text += ']';
        }
    }
    return text.empty() ? "(the whole file)" : text;
}

std::size_t line_at(std::string_view text, std::size_t byte) {
    const std::string_view before = text.substr(0, std::min(byte, text.size()));
    return 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
}

std::size_t line_of(std::string_view text, const json_path& path) {
    walker w{text};
    w.skip_blank();
    std::size_t place = w.at();
    for (const auto& step : path) {
        if (!w.enter(step)) {
            break;
        }
        place = w.at();
    }
    return line_at(text, place);
}

}  // namespace spool::lab
