#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

#include "view.hpp"

namespace tour {
namespace {

constexpr std::size_t lines_needed = 12;
constexpr std::size_t columns_needed = 44;
constexpr std::size_t columns_for_wide_cells = 66;

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

enum class colour { none = 0, bold = 1, dim = 2, red = 31, green = 32, yellow = 33, blue = 34, cyan = 36 };

class live_view final : public view {
public:
    explicit live_view(std::size_t columns)
        : columns_(columns),
          coloured_(environment("NO_COLOR").empty()),
          wide_(columns >= columns_for_wide_cells),
          full_(speaks_utf8() ? "\u2588" : "#"),
          place_(speaks_utf8() ? "\u00b7" : ".") {
        write("\x1b[?25l");  // hides the cursor
    }
    ~live_view() override { write("\x1b[?25h"); }

    void begin_act(const frame& now) override { show(now); }
    void end_act(const frame& now) override { show(now); }
    void show(const frame& now) override {
        const spool::pool_snapshot& p = now.pool;
        const std::string state{spool::to_string(p.state)};
        begin_frame();
        char head[80];
        std::snprintf(head, sizeof head, "Spool tour: act %zu of %zu, %.1f s, the pool is %s", now.act,
                      now.acts, std::chrono::duration<double>{now.elapsed}.count(), state.c_str());
        text(head, colour::dim);
        text("");
        text(now.text.title, colour::bold);
        text(now.text.why);
        text("");
        label("workers", p.pool_size, p.maximum_size);
        cells(std::min(p.pool_size, p.core_size), colour::green);
        cells(p.pool_size - std::min(p.pool_size, p.core_size), colour::yellow);
        places(p.pool_size, p.maximum_size);
        put(" core " + std::to_string(p.core_size), colour::dim);
        end_line();
        label("active", p.active);
        cells(p.active, colour::cyan);
        end_line();
        label("queued", p.queued, p.queue_capacity);
        cells(p.queued, colour::blue);
        places(p.queued, p.queue_capacity);
        end_line();
        label("rejected", static_cast<std::size_t>(p.rejected));
        cells(static_cast<std::size_t>(p.rejected), colour::red);
        end_line();
        const std::string completed = std::to_string(p.completed);
        text("  completed " + completed + " of " + std::to_string(now.accepted) + " accepted");
        write(frame_);
    }

private:
    static void write(const std::string& s) {
        std::fwrite(s.data(), 1, s.size(), stdout);
        std::fflush(stdout);
    }

    void begin_frame() {
        frame_.clear();
        if (height_ > 0) {
            // Moves up to the start of the last frame.
            frame_ += "\x1b[" + std::to_string(height_) + "A";
        }
        height_ = 0;
        frame_ += "\r\x1b[2K";
    }
    void end_line() {
        frame_ += "\n\x1b[2K";  // erases the last frame's text there
        ++height_;
    }
    void put(std::string_view s, colour c) {
        const bool plain = !coloured_ || c == colour::none;
        frame_ += plain ? "" : "\x1b[" + std::to_string(static_cast<int>(c)) + "m";
        frame_ += s;
        frame_ += plain ? "" : "\x1b[0m";
    }
    /// Adds one line of ASCII, cut to the terminal's width: a wrapped line could not be redrawn.
    void text(std::string_view s, colour c = colour::none) {
        put(s.substr(0, columns_ - 1), c);
        end_line();
    }
    void label(const char* name, std::size_t n) {
        char buffer[40];
        std::snprintf(buffer, sizeof buffer, "  %-9s %2zu        ", name, n);
        frame_ += buffer;
    }
    void label(const char* name, std::size_t n, std::size_t limit) {
        char buffer[40];
        std::snprintf(buffer, sizeof buffer, "  %-9s %2zu of %2zu  ", name, n, limit);
        frame_ += buffer;
    }
    void cells(std::size_t n, colour c, const std::string& unit) {
        std::string bar;
        for (std::size_t i = 0; i < n; ++i) {
            bar += wide_ ? unit + unit + " " : unit;
        }
        put(bar, c);
    }
    void cells(std::size_t n, colour c) { cells(n, c, full_); }
    void places(std::size_t taken, std::size_t limit) {
        cells(limit - std::min(taken, limit), colour::dim, place_);
    }

    const std::size_t columns_;
    const bool coloured_;
    const bool wide_;
    const std::string full_;
    const std::string place_;
    std::string frame_;
    std::size_t height_ = 0;  // lines of the last frame
};

}  // namespace

std::unique_ptr<view> make_live_view() {
    if (::isatty(STDOUT_FILENO) == 0 || environment("TERM").empty() || environment("TERM") == "dumb") {
        return nullptr;
    }
    std::size_t columns = 80;
    std::size_t lines = 24;
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
        columns = size.ws_col;
        lines = size.ws_row;
    }
    if (columns < columns_needed || lines < lines_needed) {
        return nullptr;
    }
    return std::make_unique<live_view>(columns);
}

}  // namespace tour
