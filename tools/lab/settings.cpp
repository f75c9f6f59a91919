#include "settings.hpp"

#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>
#include <spool/queue/array_blocking_queue.hpp>
#include <spool/queue/linked_blocking_queue.hpp>
#include <spool/queue/synchronous_queue.hpp>
#include <utility>

#include "duration_text.hpp"
#include "json_fields.hpp"
#include "limits.hpp"

namespace spool::lab {
namespace {

constexpr std::size_t longest(queue_kind kind) {
    return kind == queue_kind::array ? longest_array_queue : longest_linked_queue;
}

void read_queue(const json_field& from, settings& into) {
    if (from.is_string()) {
        if (!parse_queue(from.text(), into)) {
            from.fail("\"unbounded\", \"synchronous\", or an object such as {\"kind\": \"array\", "
                      "\"capacity\": 100}");
        }
        return;
    }
    from.allow_only({"kind", "capacity"});
    into.queue = from["kind"].one_of<queue_kind>({{"linked", queue_kind::linked},
                                                  {"array", queue_kind::array},
                                                  {"synchronous", queue_kind::synchronous}});
    if (into.queue == queue_kind::synchronous) {
        into.capacity = 0;
        if (from.has("capacity")) {
            from["capacity"].complain("a synchronous queue holds nothing: leave the capacity out");
        }
    } else if (into.queue == queue_kind::linked && !from.has("capacity")) {
        into.capacity = unlimited;
    } else {
        into.capacity = from["capacity"].count(1, longest(into.queue));
    }
}

std::unique_ptr<blocking_queue<task>> make_queue(const settings& s) {
    switch (s.queue) {
        case queue_kind::array: return std::make_unique<array_blocking_queue<task>>(s.capacity);
        case queue_kind::synchronous: return std::make_unique<synchronous_queue<task>>();
        case queue_kind::linked: break;
    }
    return s.capacity == unlimited ? std::make_unique<linked_blocking_queue<task>>()
                                   : std::make_unique<linked_blocking_queue<task>>(s.capacity);
}

rejection_policy make_policy(refusal policy) {
    switch (policy) {
        case refusal::discard: return discard_policy{};
        case refusal::discard_oldest: return discard_oldest_policy{};
        case refusal::caller_runs: return caller_runs_policy{};
        case refusal::abort: break;
    }
    return abort_policy{};
}

}  // namespace

std::string_view to_text(queue_kind kind) noexcept {
    switch (kind) {
        case queue_kind::linked: return "linked";
        case queue_kind::array: return "array";
        case queue_kind::synchronous: return "synchronous";
    }
    return "?";
}

std::string_view to_text(refusal policy) noexcept {
    switch (policy) {
        case refusal::abort: return "abort";
        case refusal::discard: return "discard";
        case refusal::discard_oldest: return "discard_oldest";
        case refusal::caller_runs: return "caller_runs";
    }
    return "?";
}

std::optional<refusal> parse_refusal(std::string_view text) {
    for (const refusal r :
         {refusal::abort, refusal::discard, refusal::discard_oldest, refusal::caller_runs}) {
        if (text == to_text(r)) {
            return r;
        }
    }
    return std::nullopt;
}

bool parse_queue(std::string_view text, settings& into) {
    const std::size_t colon = text.find(':');
    const std::string_view kind = text.substr(0, colon);
    std::size_t capacity = 0;
    if (colon != std::string_view::npos) {
        const char* const end = text.data() + text.size();
        const auto [rest, error] = std::from_chars(text.data() + colon + 1, end, capacity);
        if (error != std::errc{} || rest != end || capacity == 0) {
            return false;
        }
    }
    if (kind == "unbounded" && capacity == 0) {
        into.queue = queue_kind::linked;
        into.capacity = unlimited;
    } else if (kind == "synchronous" && capacity == 0) {
        into.queue = queue_kind::synchronous;
        into.capacity = 0;
    } else if ((kind == "linked" || kind == "array") && capacity > 0) {
        const queue_kind wanted = kind == "linked" ? queue_kind::linked : queue_kind::array;
        if (capacity > longest(wanted)) {
            return false;
        }
        into.queue = wanted;
        into.capacity = capacity;
    } else {
        return false;
    }
    return true;
}

std::string expected_queue() {
    return fmt::format("unbounded, synchronous, linked:N with N up to {}, or array:N with N up to {}",
                       longest_linked_queue, longest_array_queue);
}

settings read_settings(const json_field& from) {
    from.allow_only({"core", "maximum", "keep_alive", "core_may_time_out", "queue", "rejection", "load"});
    settings s;
    s.core = from.has("core") ? from["core"].count(0, largest_pool) : default_parallelism();
    s.maximum =
        from.has("maximum") ? from["maximum"].count(0, largest_pool) : std::max<std::size_t>(s.core, 1);
    if (from.has("keep_alive")) {
        s.keep_alive = from["keep_alive"].duration();
    }
    if (from.has("core_may_time_out")) {
        s.core_may_time_out = from["core_may_time_out"].truth();
    }
    if (from.has("queue")) {
        read_queue(from["queue"], s);
    }
    if (from.has("rejection")) {
        s.rejection = from["rejection"].one_of<refusal>({{"abort", refusal::abort},
                                                         {"discard", refusal::discard},
                                                         {"discard_oldest", refusal::discard_oldest},
                                                         {"caller_runs", refusal::caller_runs}});
    }
    return s;
}

std::string queue_text(const settings& s) {
    if (s.queue == queue_kind::synchronous) {
        return "hand-off";
    }
    return s.capacity == unlimited ? "unbounded queue"
                                   : fmt::format("{} queue of {}", to_text(s.queue), s.capacity);
}

std::string to_text(const settings& s) {
    return fmt::format("core {}, maximum {}, {}, keep-alive {}{}, {}", s.core, s.maximum, queue_text(s),
                       to_text(s.keep_alive), s.core_may_time_out ? " for all" : "", to_text(s.rejection));
}

nlohmann::json to_json(const settings& s) {
    nlohmann::json queue = {{"kind", to_text(s.queue)}};
    if (s.capacity != unlimited && s.capacity != 0) {
        queue["capacity"] = s.capacity;
    }
    return {{"core", s.core},
            {"maximum", s.maximum},
            {"keep_alive", fmt::format("{}us", s.keep_alive.count() / 1000)},
            {"core_may_time_out", s.core_may_time_out},
            {"queue", std::move(queue)},
            {"rejection", to_text(s.rejection)}};
}

pool_options to_options(const settings& s, std::string name) {
    pool_options options{.name = std::move(name),
                         .core_size = s.core,
                         .maximum_size = s.maximum,
                         .keep_alive = s.keep_alive,
                         .core_threads_may_time_out = s.core_may_time_out,
                         .queue = make_queue(s)};
    options.rejection = make_policy(s.rejection);
    return options;
}

}  // namespace spool::lab
