// job: what travels between a submitter, a broker and a worker.
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spool/base/export.hpp"

namespace spool::inline v1::remote {

using bytes = std::vector<std::uint8_t>;
/// The resolution in which brokers keep times.
using duration = std::chrono::microseconds;
/// A time on the broker's clock, never on the caller's.
using server_time = std::chrono::time_point<std::chrono::system_clock, duration>;

/// The identity of a job: 128 bits. The submitter makes it, so a submit whose answer was lost can
/// be repeated without a second job.
class SPOOL_API job_id {
public:
    using value_type = std::array<std::uint8_t, 16>;

    /// The nil id, which no job has.
    constexpr job_id() noexcept = default;
    explicit constexpr job_id(const value_type& value) noexcept : value_(value) {}
    /// 128 random bits from the system.
    [[nodiscard]] static job_id random();
    /// The same id for the same text: for a job that several processes submit at most once.
    [[nodiscard]] static job_id of(std::string_view text) noexcept;
    /// Reads what text() wrote; nullopt for anything else.
    [[nodiscard]] static std::optional<job_id> parse(std::string_view text) noexcept;

    [[nodiscard]] constexpr bool is_nil() const noexcept { return value_ == value_type{}; }
    [[nodiscard]] constexpr const value_type& value() const noexcept { return value_; }
    /// 32 hexadecimal digits.
    [[nodiscard]] std::string text() const;

    friend auto operator<=>(const job_id&, const job_id&) = default;

private:
    value_type value_{};
};

/// Where a job is in its life.
///
///                 due                taken               finished
///     delayed ---------> queued ---------------> running ----------> succeeded, failed, cancelled
///        ^                 ^                      | | |
///        |                 +--- handed back ------+ | |
///        |                 +--- lease lost ---------+ +---> dead: lost crash_limit times
///        +---------------------- error, tries left
///
/// cancel() ends a delayed or queued job at once, and asks a running one to stop.
enum class job_state : std::uint8_t { delayed, queued, running, succeeded, failed, cancelled, dead };

[[nodiscard]] constexpr bool is_finished(job_state s) noexcept {
    return s >= job_state::succeeded;
}
[[nodiscard]] SPOOL_API std::string_view to_string(job_state s) noexcept;
[[nodiscard]] SPOOL_API std::optional<job_state> parse_job_state(std::string_view text) noexcept;

/// A job as a submitter gives it to a broker.
struct new_job {
    job_id id;
    std::string queue;
    std::string function;
    std::uint64_t signature = 0;
    bytes args;
    /// At most one unfinished job of a queue has this key; empty: no such limit.
    std::string key;
    /// The greater goes first.
    int priority = 0;
    /// How long the broker holds the job back.
    duration delay{0};
    /// A start time on the broker's clock; takes precedence over `delay`.
    std::optional<server_time> at = std::nullopt;
    /// How many times the job runs again after an error.
    int retries = 0;
    /// How many lost leases make the job dead.
    int crash_limit = 3;
    /// The base of the exponential backoff after an error.
    duration backoff = std::chrono::seconds{1};
    /// How long one run may take; zero: no limit.
    duration time_limit{0};
    /// How long the outcome is kept.
    duration keep = std::chrono::hours{1};
    /// Names the executor that waits for the outcome; may be empty.
    std::string submitter;
};

/// The right to finish a job. Each take has a greater fence, so an old holder changes nothing.
struct lease {
    job_id id;
    std::int64_t fence = 0;
};

/// A job that a worker has taken.
struct leased_job {
    job_id id;
    std::int64_t fence = 0;
    std::string queue;
    std::string function;
    std::uint64_t signature = 0;
    bytes args;
    int priority = 0;
    /// Errors so far.
    int attempt = 0;
    /// Leases lost so far.
    int crashes = 0;
    int retries = 0;
    duration backoff{0};
    duration time_limit{0};
};

/// How a run of a job ended.
enum class outcome_kind : std::uint8_t {
    succeeded,
    error,      ///< counts as a try; the job runs again if tries are left
    refused,    ///< the job can never run: it fails whatever tries are left
    cancelled,  ///< the run ended because a cancellation was requested
};

/// What a worker reports for a lease.
struct job_outcome {
    remote::lease lease;
    outcome_kind kind = outcome_kind::succeeded;
    bytes result;
    std::string error_type;
    std::string error_text;
    /// When to run again after an error.
    duration retry_in{0};
};

/// A job as a broker shows it.
struct job_record {
    job_id id;
    std::string queue;
    std::string function;
    std::uint64_t signature = 0;
    bytes args;
    std::string key;
    job_state state = job_state::queued;
    int priority = 0;
    int attempt = 0;
    int retries = 0;
    int crashes = 0;
    std::int64_t fence = 0;
    bool cancel_requested = false;
    std::string worker;
    bytes result;
    std::string error_type;
    std::string error_text;
    server_time created_at;
    /// When the job becomes, or became, ready.
    server_time run_at;
    /// Of a running job: when its lease ends.
    server_time lease_until;
    server_time finished_at;
};

/// error_type of a job that discard_oldest removed.
inline constexpr std::string_view evicted_type = "spool::evicted";
/// error_type of a run that exceeded its time limit.
inline constexpr std::string_view timed_out_type = "spool::timed_out";

}  // namespace spool::inline v1::remote

template <>
struct std::hash<spool::remote::job_id> {
    std::size_t operator()(const spool::remote::job_id& id) const noexcept {
        std::size_t h = 0;
        for (std::size_t i = 0; i < sizeof h; ++i) {
            h = h << 8U | id.value()[i];  // ids are random or hashed: any bits will do
        }
        return h;
    }
};
