// pool_settings: what may change while a pool runs, and what thread_pool_executor::apply() answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "spool/base/deadline.hpp"
#include "spool/base/export.hpp"
#include "spool/pool/measuring.hpp"
#include "spool/pool/rejection.hpp"

namespace spool::inline v1 {

/// A change of a pool's settings. An empty field stays as it is.
///
///     pool.apply({.core_size = 8, .maximum_size = 32, .queue_capacity = 2000});
///
/// Not here, because they cannot change while a pool runs: the kind of its queue, its hooks, its
/// fork policy. The thread factory has its own setter.
struct pool_settings {
    std::optional<std::size_t> core_size{};
    std::optional<std::size_t> maximum_size{};
    std::optional<duration_setting> keep_alive{};
    std::optional<bool> core_threads_may_time_out{};
    /// How many tasks the queue may hold; blocking_queue::unlimited removes the bound. Only for a
    /// kind of queue whose capacity can change: linked_blocking_queue and linked_blocking_deque.
    std::optional<std::size_t> queue_capacity{};
    std::optional<rejection_policy> rejection{};
    std::optional<measuring> measure{};
};

enum class apply_mode {
    change,   ///< checks the settings, then changes the pool
    dry_run,  ///< checks the settings and says what would change
};

/// One field that a change gives another value.
struct setting_change {
    std::string field;  ///< as in pool_settings: "core_size"
    std::string before;
    std::string after;

    friend bool operator==(const setting_change&, const setting_change&) = default;
};

/// What apply() has changed, or in a dry run would change.
struct settings_change {
    /// The pool's version with the change; in a dry run the version of now. A call that changes
    /// nothing does not raise the version.
    std::uint64_t version = 0;
    /// The fields with another value, in the order of pool_settings.
    std::vector<setting_change> fields;
};

/// Settings that a pool refuses. what() names the pool, the field and the values:
///
///     thread_pool_executor "decode": maximum_size must not be less than core_size (core_size 8,
///     maximum_size 4)
class SPOOL_API invalid_settings : public std::invalid_argument {
public:
    /// `pool` names the pool, as in messages. `field` is the name in pool_settings, `value` what
    /// the field was to become.
    invalid_settings(std::string_view pool, std::string_view field, std::string_view value,
                     std::string_view why);
    invalid_settings(const invalid_settings&) noexcept;
    invalid_settings& operator=(const invalid_settings&) noexcept;
    ~invalid_settings() override;

    [[nodiscard]] const std::string& pool() const noexcept { return parts_->pool; }
    [[nodiscard]] const std::string& field() const noexcept { return parts_->field; }
    [[nodiscard]] const std::string& value() const noexcept { return parts_->value; }
    /// what() without the pool's name.
    [[nodiscard]] const std::string& why() const noexcept { return parts_->why; }

private:
    struct parts {
        std::string pool, field, value, why;
    };
    std::shared_ptr<const parts> parts_;  // shared: copying an exception must not throw
};

/// "abort", "caller_runs", "discard", "discard_oldest", "block", or "custom".
[[nodiscard]] SPOOL_API std::string_view name_of(const rejection_policy& policy) noexcept;

}  // namespace spool::inline v1
