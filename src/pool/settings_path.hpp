// settings_path: how the settings of a running pool change.
//
// A change is all or nothing. The queue comes first, because only the queue may throw when it is
// changed. If the rest of the change is refused, the queue gets its old capacity back.
#pragma once

#include <optional>

#include "pool/pool.hpp"
#include "spool/pool/pool_settings.hpp"

namespace spool::inline v1 {

class settings_path {
public:
    explicit settings_path(detail::pool& pool) noexcept : pool_(pool) {}

    /// Checks and applies a change, wakes the threads that may have to act on it, and starts
    /// workers for queued tasks if the core size was raised. \throws invalid_settings, and changes
    /// nothing; what a user's queue throws
    settings_change apply(const pool_settings& next, apply_mode mode);

private:
    using capacity_change = current_settings::capacity_change;

    current_settings::result change_all(const pool_settings& next);
    current_settings::result change_with_capacity(const pool_settings& next);
    [[nodiscard]] capacity_change check_capacity(std::size_t n) const;
    void set_capacity(std::size_t n);

    detail::pool& pool_;
};

}  // namespace spool::inline v1
