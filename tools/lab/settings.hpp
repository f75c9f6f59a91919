// A pool's settings as plain values that can be read, printed, compared, simulated, and turned into
// a real pool.
#pragma once

#include <chrono>
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <spool/pool/admission.hpp>
#include <spool/pool/pool_options.hpp>
#include <string>
#include <string_view>

namespace spool::lab {

using std::chrono::nanoseconds;

class json_field;

enum class queue_kind { linked, array, synchronous };
enum class refusal { abort, discard, discard_oldest, caller_runs };

[[nodiscard]] std::string_view to_text(queue_kind kind) noexcept;
[[nodiscard]] std::string_view to_text(refusal policy) noexcept;

inline constexpr std::size_t unlimited = blocking_queue<task>::unlimited;

struct settings {
    std::size_t core = 1;
    std::size_t maximum = 1;
    nanoseconds keep_alive = std::chrono::seconds{60};
    bool core_may_time_out = false;
    queue_kind queue = queue_kind::linked;
    std::size_t capacity = unlimited;  ///< 0 for the hand-off queue
    refusal rejection = refusal::abort;

    [[nodiscard]] admission::sizes sizes() const noexcept { return {core, maximum, core_may_time_out}; }
    friend bool operator==(const settings&, const settings&) = default;
};

/// Reads {"core": 4, "maximum": 8, "keep_alive": "1s", "core_may_time_out": false, "queue": ...,
/// "rejection": "abort"}. The queue is "unbounded", "synchronous", or {"kind": "linked" or "array",
/// "capacity": 100}. A missing field gets the library's default. Does not check whether the values
/// fit together: lint() does.
[[nodiscard]] settings read_settings(const json_field& from);

/// Parses the command-line form: "unbounded", "synchronous", "linked:100", "array:100". Returns
/// false for anything else, or if the capacity is too large.
[[nodiscard]] bool parse_queue(std::string_view text, settings& into);
/// Describes what parse_queue() accepts, for messages.
[[nodiscard]] std::string expected_queue();
[[nodiscard]] std::optional<refusal> parse_refusal(std::string_view text);

/// "core 4, maximum 8, array queue of 100, keep-alive 1 s, abort"
[[nodiscard]] std::string to_text(const settings& s);
/// "array queue of 100", "hand-off", "unbounded queue"
[[nodiscard]] std::string queue_text(const settings& s);
[[nodiscard]] nlohmann::json to_json(const settings& s);

/// Returns options for a real pool, without hooks. `abort` becomes the library's abort_policy.
[[nodiscard]] pool_options to_options(const settings& s, std::string name);

}  // namespace spool::lab
