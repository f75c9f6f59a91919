// Reads hand-written JSON. Error messages name the file, the line, the field and the expectation.
#pragma once

#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json_place.hpp"
#include "limits.hpp"

namespace spool::lab {

using std::chrono::nanoseconds;

/// For example: "flash.json:12: pool.maximum: expected a whole number of at least 1, got "many""
class input_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A JSON text, and its name for messages.
struct json_source {
    std::string name;
    std::string text;
};

/// One value of a document, with its path for messages.
class json_field {
public:
    /// Parses the text. \throws input_error with the line if the text is not JSON
    [[nodiscard]] static json_field parse(json_source source);

    [[nodiscard]] bool is_string() const { return value_->is_string(); }
    [[nodiscard]] bool is_array() const { return value_->is_array(); }
    [[nodiscard]] bool is_object() const { return value_->is_object(); }
    [[nodiscard]] bool has(const std::string& name) const {
        return value_->is_object() && value_->contains(name);
    }

    /// Returns a member of this object. \throws input_error if there is none, or this is no object
    [[nodiscard]] json_field operator[](const std::string& name) const;
    /// Returns the elements of this array; a value that is no array counts as an array of itself.
    /// \throws input_error if the array is empty
    [[nodiscard]] std::vector<json_field> elements() const;
    /// Rejects any other member and suggests the nearest name. \throws input_error
    void allow_only(std::initializer_list<std::string_view> names) const;

    [[nodiscard]] std::string text() const;
    [[nodiscard]] bool truth() const;
    [[nodiscard]] std::size_t count(std::size_t least, std::size_t most) const;
    /// A number above 0 (positive) or from 0 (not_negative), at most `most`.
    [[nodiscard]] double positive(double most) const;
    [[nodiscard]] double not_negative(double most) const;
    /// Between 0 and 1.
    [[nodiscard]] double share() const;
    [[nodiscard]] nanoseconds duration(nanoseconds most = longest_duration) const;
    /// Above zero, at most `most`.
    [[nodiscard]] nanoseconds positive_duration(nanoseconds most = longest_duration) const;

    /// Maps one of several words to its value. \throws input_error for any other word
    template <class T>
    [[nodiscard]] T one_of(std::initializer_list<std::pair<std::string_view, T>> choices) const {
        const std::string word = value_->is_string() ? text() : std::string{};
        std::string all;
        for (const auto& [name, value] : choices) {
            if (word == name) {
                return value;
            }
            all += (all.empty() ? "" : ", ") + std::string{name};
        }
        fail("one of " + all);
    }

    /// \throws input_error with the place and "expected <what>, got <this value>"
    [[noreturn]] void fail(const std::string& expected) const;
    /// \throws input_error with the place and these words
    [[noreturn]] void complain(const std::string& words) const;

private:
    struct document {
        json_source source;
        nlohmann::json root;
    };
    json_field(std::shared_ptr<const document> in, const nlohmann::json* value, json_path path)
        : in_(std::move(in)), value_(value), path_(std::move(path)) {}
    [[nodiscard]] double number(double least, bool or_equal, double most, const std::string& expected) const;

    std::shared_ptr<const document> in_;
    const nlohmann::json* value_;
    json_path path_;
};

/// Reads a whole file. \throws input_error if the file cannot be read
[[nodiscard]] json_source read_source(const std::string& file);

}  // namespace spool::lab
