// pool_handle: a weak reference to a pool; all_pools().
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "spool/base/export.hpp"
#include "spool/pool/pool_reading.hpp"
#include "spool/pool/pool_settings.hpp"

namespace spool::inline v1 {

class pool_presence;

/// Refers to a pool without keeping it alive. After the pool's destructor, and in a forked child,
/// each call answers "gone": an empty optional.
///
/// A call that is under way makes the pool's destructor wait until it returns. So a call must not
/// wait for that destructor, as a thread factory that apply() calls could.
/// Thread safety: any thread may call any member.
class SPOOL_API pool_handle {
public:
    explicit pool_handle(std::shared_ptr<pool_presence> pool) noexcept : pool_(std::move(pool)) {}

    [[nodiscard]] const std::string& name() const noexcept;
    [[nodiscard]] bool is_gone() const noexcept;
    [[nodiscard]] std::optional<pool_reading> read() const;
    [[nodiscard]] std::optional<std::vector<worker_reading>> workers() const;
    [[nodiscard]] std::optional<std::string> describe() const;
    /// \throws as thread_pool_executor::apply()
    std::optional<settings_change> apply(const pool_settings& next,
                                         apply_mode mode = apply_mode::change) const;
    /// The same pool.
    friend bool operator==(const pool_handle&, const pool_handle&) noexcept = default;

private:
    std::shared_ptr<pool_presence> pool_;
};

/// All pools of the process that exist now, the newest first. Scheduled pools too.
[[nodiscard]] SPOOL_API std::vector<pool_handle> all_pools();

}  // namespace spool::inline v1
