// The run as moving bars and sparklines, redrawn in place.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "duration_text.hpp"
#include "terminal.hpp"
#include "view.hpp"

namespace spool::lab {
namespace {

constexpr std::size_t lines_needed = 16;
constexpr std::size_t columns_needed = 60;
constexpr std::size_t label_width = 27;

enum class colour { none = 0, bold = 1, dim = 2, red = 31, green = 32, yellow = 33, blue = 34, cyan = 36 };

class live_view final : public view {
public:
    explicit live_view(const terminal& on)
        : on_(on), width_(std::min<std::size_t>(on.columns - label_width - 2, 72)) {
        write("\x1b[?25l");  // hides the cursor
    }
    ~live_view() override { write("\x1b[?25h"); }

    void show(const frame& now) override {
        remember(now);
        begin_frame();
        head(now);
        progress(now);
        end_line();
        label("workers", fmt::format("{} of {}", now.workers, now.pool.maximum));
        workers_bar(now);
        end_line();
        label("active", fmt::format("{}", now.active));
        bar(now.active, now.pool.maximum, colour::cyan);
        end_line();
        const bool bounded = now.pool.capacity != unlimited && now.pool.capacity != 0;
        label("queued", bounded ? fmt::format("{} of {}", now.queued, now.pool.capacity)
                                : fmt::format("{}", now.queued));
        bar(now.queued, bounded ? now.pool.capacity : std::max<std::size_t>(100, most(history_.queued)),
            colour::blue);
        end_line();
        line("arrivals", fmt::format("{:.0f}/s", now.arrivals), history_.arrivals, colour::dim);
        line("done", fmt::format("{:.0f}/s", now.throughput), history_.done, colour::green);
        line("rejected", fmt::format("{:.0f}/s", now.rejections), history_.rejected, colour::red);
        line("pool size", "", history_.workers, colour::yellow);
        line("queue", "", history_.queued, colour::blue);
        line("wait p99", to_text(now.wait_p99), history_.wait, colour::cyan);
        put(fmt::format("  wait p50 {}, run p50 {}, p99 {}; {} done, {} rejected", to_text(now.wait_p50),
                        to_text(now.run_p50), to_text(now.run_p99), now.completed, now.rejected)
                .substr(0, on_.columns - 1),
            colour::dim);
        end_line();
        write(frame_);
    }

private:
    static void write(const std::string& s) {
        std::fwrite(s.data(), 1, s.size(), stdout);
        std::fflush(stdout);
    }
    [[nodiscard]] static std::size_t most(const std::vector<double>& values) {
        return values.empty() ? 0 : static_cast<std::size_t>(*std::max_element(values.begin(), values.end()));
    }

    // Keeps one value per cell of a sparkline: the maximum over the cell's time.
    void remember(const frame& now) {
        const double part = std::min(1.0, seconds(now.elapsed) / std::max(0.001, seconds(now.duration)));
        const auto cell = std::min(static_cast<std::size_t>(part * static_cast<double>(width_)), width_ - 1);
        const auto note = [cell](std::vector<double>& values, double value) {
            if (values.size() <= cell) {
                values.resize(cell + 1, value);
            }
            values[cell] = std::max(values[cell], value);
        };
        note(history_.arrivals, now.arrivals);
        note(history_.done, now.throughput);
        note(history_.rejected, now.rejections);
        note(history_.workers, now.workers);
        note(history_.queued, now.queued);
        note(history_.wait, seconds(now.wait_p99));
    }

    void begin_frame() {
        frame_.clear();
        if (height_ > 0) {
            frame_ += fmt::format("\x1b[{}A", height_);  // moves up to the start of the last frame
        }
        height_ = 0;
        frame_ += "\r\x1b[2K";
    }
    void end_line() {
        frame_ += "\n\x1b[2K";  // erases the last frame's text there
        ++height_;
    }
    void put(std::string_view s, colour c) {
        const bool plain = !on_.coloured || c == colour::none;
        frame_ += plain ? std::string{s} : fmt::format("\x1b[{}m{}\x1b[0m", static_cast<int>(c), s);
    }
    void label(const char* name, const std::string& figure) {
        put(fmt::format("  {:<10}{:>12}  ", name, figure), colour::none);
    }

    void head(const frame& now) {
        put(fmt::format("{}", now.title).substr(0, on_.columns - 1), colour::bold);
        end_line();
        put(to_text(now.pool).substr(0, on_.columns - 1), colour::dim);
        end_line();
    }
    void progress(const frame& now) {
        const double part = std::min(1.0, seconds(now.elapsed) / std::max(0.001, seconds(now.duration)));
        const nanoseconds left = std::max(nanoseconds{0}, now.duration - now.elapsed);
        label("", now.draining ? "draining" : fmt::format("{:.0f} s left", std::ceil(seconds(left))));
        bar(static_cast<std::size_t>(part * 1000), 1000, colour::none);
        end_line();
    }
    void repeat(std::size_t n, std::string_view unit, colour c) {
        std::string all;
        for (std::size_t i = 0; i < n; ++i) {
            all += unit;
        }
        put(all, c);
    }
    [[nodiscard]] std::size_t cells(std::size_t n, std::size_t limit) const {
        const double part = static_cast<double>(n) / static_cast<double>(std::max<std::size_t>(limit, 1));
        return std::min(width_, static_cast<std::size_t>(std::lround(part * static_cast<double>(width_))));
    }
    [[nodiscard]] std::string_view full() const { return on_.utf8 ? "\u2588" : "#"; }
    [[nodiscard]] std::string_view place() const { return on_.utf8 ? "\u00b7" : "."; }

    void bar(std::size_t n, std::size_t limit, colour c) {
        const std::size_t filled = n == 0 ? 0 : std::max<std::size_t>(1, cells(n, limit));
        repeat(filled, full(), c);
        repeat(width_ - filled, place(), colour::dim);
    }
    // Draws core workers and workers above the core size in different colours.
    void workers_bar(const frame& now) {
        const std::size_t all =
            now.workers == 0 ? 0 : std::max<std::size_t>(1, cells(now.workers, now.pool.maximum));
        const std::size_t core =
            std::min(all, cells(std::min<std::size_t>(now.workers, now.pool.core), now.pool.maximum));
        repeat(core, full(), colour::green);
        repeat(all - core, full(), colour::yellow);
        repeat(width_ - all, place(), colour::dim);
    }
    void line(const char* name, const std::string& figure, const std::vector<double>& values, colour c) {
        static constexpr std::string_view blocks[] = {" ",      "\u2581", "\u2582", "\u2583", "\u2584",
                                                      "\u2585", "\u2586", "\u2587", "\u2588"};
        static constexpr std::string_view ascii[] = {" ", ".", ".", ":", "-", "=", "+", "*", "#"};
        label(name, figure.empty() ? fmt::format("most {}", most(values)) : figure);
        const double top = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
        std::string all;
        for (const double v : values) {
            const auto level = top == 0 ? 0U : static_cast<unsigned>(std::ceil(v / top * 8));
            all += on_.utf8 ? blocks[level] : ascii[level];
        }
        put(all, c);
        end_line();
    }

    const terminal on_;
    const std::size_t width_;  // of bars and sparklines
    std::string frame_;
    std::size_t height_ = 0;  // lines of the last frame
    struct {
        std::vector<double> arrivals, done, rejected, workers, queued, wait;
    } history_;
};

}  // namespace

std::unique_ptr<view> make_live_view() {
    const auto on = find_terminal();
    if (!on.has_value() || on->columns < columns_needed || on->lines < lines_needed) {
        return nullptr;
    }
    return std::make_unique<live_view>(*on);
}

}  // namespace spool::lab
