#include "spool/live/exposition.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <utility>

#include <spool/base/error.hpp>
#include <spool/queue/blocking_queue.hpp>

namespace spool::inline v1::live {
namespace {

// In seconds: 1 us to 100 s in steps of 1, 2.5 and 5.
constexpr std::array<double, 25> bounds{1e-6, 2.5e-6, 5e-6, 1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4,
                                        1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 5e-2, 0.1,  0.25,   0.5,
                                        1,    2.5,    5,    10,   25,     50,   100};
constexpr std::array<double, 4> quantiles{0.5, 0.9, 0.99, 0.999};

std::string text_of(double n) {
    if (std::isinf(n)) {
        return n > 0 ? "+Inf" : "-Inf";
    }
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), n).ptr;
    return {text.data(), end};
}
double seconds(std::chrono::nanoseconds d) {
    return std::chrono::duration<double>(d).count();
}

// Cuts at 128 bytes, but not inside a character of UTF-8. Replaces what is not UTF-8.
std::string label_text(std::string_view name) {
    constexpr std::size_t longest = 128;
    std::string text;
    for (std::size_t i = 0; i < name.size() && text.size() < longest;) {
        const auto byte = static_cast<unsigned char>(name[i]);
        const std::size_t length = byte < 0x80                   ? 1
                                   : byte >= 0xF0 && byte < 0xF5 ? 4
                                   : byte >= 0xE0                ? 3
                                   : byte >= 0xC2                ? 2
                                                                 : 0;
        bool good = length != 0 && byte < 0xF5 && i + length <= name.size();
        for (std::size_t k = 1; good && k < length; ++k) {
            good = (static_cast<unsigned char>(name[i + k]) & 0xC0U) == 0x80U;
        }
        if (!good) {
            text += '?';
            ++i;
            continue;
        }
        switch (name[i]) {
            case '\\': text += "\\\\"; break;
            case '"': text += "\\\""; break;
            case '\n': text += "\\n"; break;
            default: text += name.substr(i, length);
        }
        i += length;
    }
    return text;
}

using labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

class writer {
public:
    explicit writer(exposition_format format) : open_(format == exposition_format::open_metrics) {}

    /// Begins a family. `name` is without the _total of a counter.
    void family(std::string_view name, std::string_view type, std::string_view help) {
        family_ = name;
        suffix_ = type == "counter" ? "_total" : type == "info" ? "_info" : "";
        const std::string declared = open_ ? family_ : family_ + std::string{suffix_};
        text_ += "# HELP " + declared + " " + std::string{help} + "\n";
        text_ += "# TYPE " + declared + " " + std::string{type == "info" && !open_ ? "gauge" : type} + "\n";
    }
    void sample(labels of, double value) { line(suffix_, of, text_of(value)); }
    void sample(labels of, std::uint64_t value) { line(suffix_, of, std::to_string(value)); }
    void histogram(std::string_view pool, const duration_histogram& h) {
        std::size_t bucket = 0;
        std::uint64_t below = 0;
        for (const double bound : bounds) {
            const auto limit = static_cast<std::int64_t>(std::llround(bound * 1e9));
            const auto middle = [](std::size_t i) {
                return (duration_histogram::lower_end(i) + duration_histogram::upper_end(i)).count() / 2;
            };
            for (; bucket < duration_histogram::buckets && middle(bucket) <= limit; ++bucket) {
                below += h.count_in(bucket);
            }
            line("_bucket", {{"pool", pool}, {"le", text_of(bound)}}, std::to_string(below));
        }
        line("_bucket", {{"pool", pool}, {"le", "+Inf"}}, std::to_string(h.count()));
        line("_sum", {{"pool", pool}}, text_of(seconds(h.sum())));
        line("_count", {{"pool", pool}}, std::to_string(h.count()));
    }
    [[nodiscard]] std::string finish() {
        text_ += open_ ? "# EOF\n" : "";
        return std::move(text_);
    }

private:
    void line(std::string_view suffix, labels of, const std::string& value) {
        text_ += family_;
        text_ += suffix;
        char before = '{';
        for (const auto& [name, label] : of) {
            text_ += before;
            text_ += name;
            text_ += "=\"" + label_text(label) + '"';
            before = ',';
        }
        text_ += of.size() != 0 ? "} " : " ";
        text_ += value + "\n";
    }

    const bool open_;
    std::string text_;
    std::string family_;
    std::string_view suffix_;
};

double capacity_of(const pool_snapshot& s) {
    return s.queue_capacity == blocking_queue<task>::unlimited ? std::numeric_limits<double>::infinity()
                                                               : static_cast<double>(s.queue_capacity);
}

}  // namespace

std::string_view content_type(exposition_format format) noexcept {
    return format == exposition_format::open_metrics
               ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
               : "text/plain; version=0.0.4; charset=utf-8";
}

std::string exposition(std::span<const pool_status> pools, exposition_format format, std::size_t left_out) {
    writer out{format};
    // One family with one sample per pool.
    const auto each = [&](std::string_view name, std::string_view type, std::string_view help, auto value) {
        out.family(name, type, help);
        for (const pool_status& p : pools) {
            out.sample({{"pool", p.label}}, value(p));
        }
    };
    const auto count = [](std::size_t n) { return static_cast<std::uint64_t>(n); };
    out.family("spool_pool", "info", "The settings of a pool that are words; always 1.");
    for (const pool_status& p : pools) {
        out.sample(
            {{"pool", p.label}, {"rejection", p.reading.rejection}, {"condition", to_string(p.verdict.what)}},
            std::uint64_t{1});
    }
    each(
        "spool_pool_running", "gauge", "1 while the pool accepts tasks, 0 once it is shut down.",
        [](const pool_status& p) { return std::uint64_t{accepts_tasks(p.reading.numbers.state) ? 1U : 0U}; });
    each("spool_pool_core_threads", "gauge", "The core size.",
         [&](const pool_status& p) { return count(p.reading.numbers.core_size); });
    each("spool_pool_maximum_threads", "gauge", "The maximum size.",
         [&](const pool_status& p) { return count(p.reading.numbers.maximum_size); });
    each("spool_pool_largest_threads", "gauge", "The most workers that were ever alive at once.",
         [&](const pool_status& p) { return count(p.reading.numbers.largest_pool_size); });
    out.family("spool_pool_threads", "gauge", "Workers, by what they do.");
    for (const pool_status& p : pools) {
        const std::size_t busy = std::min(p.reading.numbers.active, p.reading.numbers.pool_size);
        out.sample({{"pool", p.label}, {"state", "busy"}}, count(busy));
        out.sample({{"pool", p.label}, {"state", "idle"}}, count(p.reading.numbers.pool_size - busy));
    }
    each("spool_pool_queue_tasks", "gauge", "Tasks that wait.",
         [&](const pool_status& p) { return count(p.reading.numbers.queued); });
    each("spool_pool_queue_tasks_max", "gauge", "The most tasks that waited in the last 60 s.",
         [&](const pool_status& p) { return count(p.most_queued); });
    each("spool_pool_queue_capacity_tasks", "gauge", "How many tasks may wait.",
         [](const pool_status& p) { return capacity_of(p.reading.numbers); });
    each("spool_pool_tasks_accepted", "counter", "Tasks that the pool took.",
         [](const pool_status& p) { return p.accepted; });
    each("spool_pool_tasks_started", "counter", "Tasks whose body has begun.",
         [](const pool_status& p) { return p.reading.started; });
    each("spool_pool_tasks_completed", "counter", "Tasks that have ended, in whatever way.",
         [](const pool_status& p) { return p.reading.numbers.completed; });
    each("spool_pool_tasks_failed", "counter", "Tasks that ended with an exception.",
         [](const pool_status& p) { return p.reading.failed; });
    out.family("spool_pool_tasks_rejected", "counter", "Tasks that the pool refused or evicted, by reason.");
    for (const pool_status& p : pools) {
        for (std::size_t i = 0; i < rejection_reasons; ++i) {
            out.sample({{"pool", p.label}, {"reason", to_string(static_cast<rejection_reason>(i))}},
                       p.reading.rejected_by[i]);
        }
    }
    each("spool_pool_busy_seconds", "counter", "Time in which workers were busy, in sum.",
         [](const pool_status& p) { return seconds(p.reading.busy); });
    each("spool_pool_idle_seconds", "counter", "Time in which workers waited for tasks, in sum.",
         [](const pool_status& p) { return seconds(p.reading.idle); });
    each("spool_pool_cpu_seconds", "counter", "CPU time of the workers.",
         [](const pool_status& p) { return seconds(p.reading.cpu); });
    each("spool_pool_blocked_submit_seconds", "counter", "Time in which submitters waited for room.",
         [](const pool_status& p) { return seconds(p.reading.blocked); });
    out.family("spool_task_wait_seconds", "histogram", "From acceptance to start; estimated where sampled.");
    for (const pool_status& p : pools) {
        out.histogram(p.label, p.reading.wait);
    }
    out.family("spool_task_run_seconds", "histogram", "From start to end; estimated where sampled.");
    for (const pool_status& p : pools) {
        out.histogram(p.label, p.reading.run);
    }
    const auto window_quantiles = [&](std::string_view name, std::string_view help, auto histogram) {
        out.family(name, "summary", help);
        for (const pool_status& p : pools) {
            for (const double q : quantiles) {
                out.sample({{"pool", p.label}, {"quantile", text_of(q)}}, seconds(histogram(p).quantile(q)));
            }
        }
    };
    window_quantiles("spool_task_wait_window_seconds", "Waits of the last 60 s.",
                     [](const pool_status& p) -> const duration_histogram& { return p.last_60s.wait; });
    window_quantiles("spool_task_run_window_seconds", "Run times of the last 60 s.",
                     [](const pool_status& p) -> const duration_histogram& { return p.last_60s.run; });
    out.family("spool_task_kind_run_seconds", "counter",
               "Run time by kind of task; estimated where sampled.");
    for (const pool_status& p : pools) {
        for (const kind_reading& k : p.reading.kinds) {
            out.sample({{"pool", p.label}, {"kind", k.kind}}, seconds(k.run));
        }
    }
    out.family("spool_task_kind_tasks", "counter", "Tasks by kind; estimated where sampled.");
    for (const pool_status& p : pools) {
        for (const kind_reading& k : p.reading.kinds) {
            out.sample({{"pool", p.label}, {"kind", k.kind}}, k.tasks);
        }
    }
    each("spool_pool_longest_running_seconds", "gauge", "The age of the oldest task that runs.",
         [](const pool_status& p) { return seconds(p.longest_running); });
    each("spool_pool_expected_wait_seconds", "gauge", "How long a task that is submitted now will wait.",
         [](const pool_status& p) { return p.last_10s.expected_wait(); });
    each("spool_pool_sample_period", "gauge", "One task in so many is timed; 0: none.",
         [](const pool_status& p) { return std::uint64_t{p.reading.period}; });
    each("spool_pool_settings_version", "gauge", "Raised by each change of a setting.",
         [](const pool_status& p) { return p.reading.settings_version; });
    out.family("spool_live_pools_left_out", "gauge", "Pools beyond those that the monitor follows.");
    out.sample({}, count(left_out));
    return out.finish();
}

}  // namespace spool::inline v1::live
