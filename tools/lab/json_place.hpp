// Finds the line of a value in a JSON text. nlohmann's values do not store it, so it is looked up
// when an error message needs it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spool::lab {

/// Member names and array indices, from the root inwards.
using json_path = std::vector<std::variant<std::string, std::size_t>>;

/// "classes[1].service.mean"; "(the whole file)" for the root.
[[nodiscard]] std::string to_text(const json_path& path);

/// Returns the line, from 1, of the value at `path`. If there is none, returns the line of the
/// innermost value on the path that exists. Precondition: `text` is valid JSON.
[[nodiscard]] std::size_t line_of(std::string_view text, const json_path& path);

/// Returns the line, from 1, of a byte of the text.
[[nodiscard]] std::size_t line_at(std::string_view text, std::size_t byte);

}  // namespace spool::lab
