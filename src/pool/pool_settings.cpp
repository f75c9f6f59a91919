#include "spool/pool/pool_settings.hpp"

namespace spool::inline v1 {

invalid_settings::invalid_settings(std::string_view pool, std::string_view field, std::string_view value,
                                   std::string_view why)
    : std::invalid_argument(std::string{pool} + ": " + std::string{why}),
      parts_(std::make_shared<const parts>(
          parts{std::string{pool}, std::string{field}, std::string{value}, std::string{why}})) {}
invalid_settings::invalid_settings(const invalid_settings&) noexcept = default;
invalid_settings& invalid_settings::operator=(const invalid_settings&) noexcept = default;
invalid_settings::~invalid_settings() = default;

std::string_view name_of(const rejection_policy& policy) noexcept {
    return policy.target<abort_policy>() != nullptr            ? "abort"
           : policy.target<caller_runs_policy>() != nullptr    ? "caller_runs"
           : policy.target<discard_policy>() != nullptr        ? "discard"
           : policy.target<discard_oldest_policy>() != nullptr ? "discard_oldest"
           : policy.target<block_policy>() != nullptr          ? "block"
                                                               : "custom";
}

}  // namespace spool::inline v1
