#include "spool/remote/job.hpp"

#include <algorithm>
#include <random>

#include "spool/remote/broker.hpp"
#include "spool/remote/error.hpp"
#include "spool/remote/function.hpp"

namespace spool::inline v1::remote {
namespace {

constexpr std::string_view state_names[] = {"delayed", "queued",    "running", "succeeded",
                                            "failed",  "cancelled", "dead"};

std::uint64_t fnv1a(std::string_view text, std::uint64_t hash) noexcept {
    for (const char c : text) {
        hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3U;
    }
    return hash;
}

// Spreads every bit of the input over the word.
std::uint64_t mixed(std::uint64_t h) noexcept {
    h = (h ^ h >> 33U) * 0xff51afd7ed558ccdU;
    h = (h ^ h >> 33U) * 0xc4ceb9fe1a85ec53U;
    return h ^ h >> 33U;
}

job_id of_words(std::uint64_t high, std::uint64_t low) noexcept {
    job_id::value_type value{};
    for (std::size_t i = 0; i < 8; ++i) {
        value[i] = static_cast<std::uint8_t>(high >> (56U - 8U * i));
        value[i + 8] = static_cast<std::uint8_t>(low >> (56U - 8U * i));
    }
    return job_id{value};
}

int digit(char c) noexcept {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

job_id job_id::random() {
    thread_local std::random_device source;  // getrandom() or the CPU: also different after fork()
    const auto word = [] { return static_cast<std::uint64_t>(source()) << 32U | source(); };
    return of_words(word(), word());
}

job_id job_id::of(std::string_view text) noexcept {
    return of_words(mixed(fnv1a(text, 0xcbf29ce484222325U)), mixed(fnv1a(text, 0x84222325cbf29ce4U) + 1));
}

std::optional<job_id> job_id::parse(std::string_view text) noexcept {
    value_type value{};
    if (text.size() != 2 * value.size()) {
        return std::nullopt;
    }
    for (std::size_t i = 0; i < value.size(); ++i) {
        const int high = digit(text[2 * i]);
        const int low = digit(text[2 * i + 1]);
        if (high < 0 || low < 0) {
            return std::nullopt;
        }
        value[i] = static_cast<std::uint8_t>(high * 16 + low);
    }
    return job_id{value};
}

std::string job_id::text() const {
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    text.reserve(2 * value_.size());
    for (const std::uint8_t byte : value_) {
        text += digits[byte >> 4U];
        text += digits[byte & 15U];
    }
    return text;
}

std::string_view to_string(job_state s) noexcept {
    const auto i = static_cast<std::size_t>(s);
    return i < std::size(state_names) ? state_names[i] : "unknown state";
}

std::optional<job_state> parse_job_state(std::string_view text) noexcept {
    const auto* const found = std::find(std::begin(state_names), std::end(state_names), text);
    if (found == std::end(state_names)) {
        return std::nullopt;
    }
    return static_cast<job_state>(found - std::begin(state_names));
}

std::string_view to_string(broker_failure failure) noexcept {
    switch (failure) {
        case broker_failure::unavailable: return "unavailable";
        case broker_failure::out_of_space: return "out of space";
        case broker_failure::wrong_version: return "wrong schema version";
        case broker_failure::denied: return "denied";
        case broker_failure::misuse: return "misuse";
    }
    return "unknown failure";
}

broker_error::broker_error(broker_failure failure, const std::string& what)
    : std::runtime_error(what), failure_(failure) {}
broker_error::broker_error(const broker_error&) noexcept = default;
broker_error& broker_error::operator=(const broker_error&) noexcept = default;
broker_error::~broker_error() = default;

remote_error::remote_error(job_state state, const job_record& job, const std::string& what)
    : std::runtime_error(what),
      state_(state),
      id_(job.id),
      attempts_(job.attempt),
      texts_(std::make_shared<const texts>(texts{job.error_type, job.error_text, job.worker})) {}
remote_error::remote_error(const remote_error&) noexcept = default;
remote_error& remote_error::operator=(const remote_error&) noexcept = default;
remote_error::~remote_error() = default;

codec_error::codec_error(const std::string& what) : std::runtime_error(what) {}
codec_error::codec_error(const codec_error&) noexcept = default;
codec_error& codec_error::operator=(const codec_error&) noexcept = default;
codec_error::~codec_error() = default;

std::uint64_t detail::signature_hash(std::string_view text) noexcept {
    return fnv1a(text, 0xcbf29ce484222325U);
}

subscription::~subscription() = default;
broker::~broker() = default;

}  // namespace spool::inline v1::remote
