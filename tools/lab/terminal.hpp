// The capabilities of the terminal.
#pragma once

#include <cstddef>
#include <optional>

namespace spool::lab {

struct terminal {
    std::size_t columns = 80;
    std::size_t lines = 24;
    bool coloured = true;  ///< unless NO_COLOR is set
    bool utf8 = false;     ///< according to the locale
};

/// Returns the terminal of standard output; nothing if that is no terminal or cannot redraw.
[[nodiscard]] std::optional<terminal> find_terminal();

}  // namespace spool::lab
