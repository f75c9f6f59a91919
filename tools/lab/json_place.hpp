// Where in a JSON text a value stands: nlohmann's values do not remember it, so it is looked up when an error needs it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spool::lab {

/// Member names and indices, from the root inwards.
using json_path = std::vector<std::variant<std::string, std::size_t>>;

/// "classes[1].service.mean"; "(the whole file)" for the root.
[[nodiscard]] std::string to_text(const json_path& path);

/// The line, from 1, of the value at `path` in `text`, which is valid JSON. If it is not there, of the nearest value around it.
[[nodiscard]] std::size_t line_of(std::string_view text, const json_path& path);

/// The line, from 1, of a byte of the text.
[[nodiscard]] std::size_t line_at(std::string_view text, std::size_t byte);

}  // namespace spool::lab
