#include "terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace spool::lab {
namespace {

std::string_view environment(const char* name) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): no thread changes the environment
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

// Whether the locale uses UTF-8. The first of the three variables that is set decides.
bool speaks_utf8() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        if (const std::string_view value = environment(name); !value.empty()) {
            return value.ends_with("UTF-8") || value.ends_with("utf8");
        }
    }
    return false;
}

}  // namespace

std::optional<terminal> find_terminal() {
    if (::isatty(STDOUT_FILENO) == 0 || environment("TERM").empty() || environment("TERM") == "dumb") {
        return std::nullopt;
    }
    terminal t{.coloured = environment("NO_COLOR").empty(), .utf8 = speaks_utf8()};
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
        t.columns = size.ws_col;
        t.lines = size.ws_row;
    }
    return t;
}

}  // namespace spool::lab
