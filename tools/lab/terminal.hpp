// What the terminal can do.
#pragma once

#include <cstddef>
#include <optional>

namespace spool::lab {

struct terminal {
    std::size_t columns = 80;
    std::size_t lines = 24;
    bool coloured = true;  ///< unless NO_COLOR is set
    bool utf8 = false;     ///< by the locale
};

/// Of standard output; nothing if it is no terminal that can redraw.
[[nodiscard]] std::optional<terminal> find_terminal();

}  // namespace spool::lab
