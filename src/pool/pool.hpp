// detail::pool: a pool is these parts. Parts own state and know no protocol. Paths hold the protocols
// and own no state: admission_path (a task arrives), worker_path (a worker's life), lifecycle_path
// (the pool ends), task_runner (a task runs), kept_tasks and rejection_path (a task is refused),
// settings_path (the settings change). A path is made for one call: admission_path{pool}.execute(...).
//
// Locks: those of worker_roster and current_settings. No path holds a lock. So no user code runs
// under one (hooks, handlers, factories, stop callbacks, moves and destructors of tasks).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pool/backlog.hpp"
#include "pool/calls_under_way.hpp"
#include "pool/capacity_turn.hpp"
#include "pool/control_word.hpp"
#include "pool/current_settings.hpp"
#include "pool/measure/pool_presence.hpp"
#include "pool/measure/task_meter.hpp"
#include "pool/pool_config.hpp"
#include "pool/termination.hpp"
#include "pool/worker/worker_roster.hpp"
#include "spool/detail/cache_line.hpp"
#include "spool/detail/future_link.hpp"
#include "spool/detail/spinning.hpp"
#include "spool/pool/pool_reading.hpp"
#include "spool/pool/thread_pool_executor.hpp"

namespace spool::inline v1 {

/// The numbers of rejected tasks.
class rejection_log {
public:
    void count(rejection_reason reason) noexcept { rejected_[static_cast<std::size_t>(reason)].fetch_add(1); }
    [[nodiscard]] std::uint64_t total(rejection_reason reason) const noexcept {
        return rejected_[static_cast<std::size_t>(reason)].load();
    }
    [[nodiscard]] std::uint64_t total() const noexcept {
        std::uint64_t sum = 0;
        for (const auto& n : rejected_) {
            sum += n.load();
        }
        return sum;
    }

private:
    std::array<std::atomic<std::uint64_t>, rejection_reasons> rejected_{};  // statistic
};

namespace detail {

struct pool : std::enable_shared_from_this<pool> {
    using task_type = task;
    using ticket = task_backlog::ticket;

    /// \throws std::invalid_argument
    pool(thread_pool_executor& owner, pool_options&& options, bool queue_first,
         std::shared_ptr<clock_source> clock);
    pool(const pool&) = delete;
    pool& operator=(const pool&) = delete;
    ~pool() = default;

    // ---- What the paths need besides the parts

    /// Calls the thread factory.
    [[nodiscard]] worker_thread start_thread(const std::shared_ptr<worker>& w);
    /// Tells a derived pool.
    void on_shutdown();

    // ---- The parts

    const pool_config config;
    // Every task reads this cache line and the next one: keep what else is written out of them.
    alignas(cache_line) control_word control;
    const bool is_bare;  // see task_runner::run()
    current_settings settings;
    alignas(cache_line) task_backlog backlog;
    alignas(cache_line) worker_roster roster{config.name, control};
    pool_termination termination;
    rejection_log rejections;
    capacity_turn capacity_changes;
    task_meter meter{backlog.samples()};
    const std::shared_ptr<pool_presence> presence;  // for handles
    recent_waits idle_waits;                        // how long idle workers waited for their next task
    [[no_unique_address]] calls_under_way calls;

    // ---- See fork/pool_fork.hpp

    const long made_in;                   // the id of the process that made the pool
    std::shared_ptr<pool> self_in_child;  // itself, for good, in a forked child that has lost it
    lost_home lost;

    thread_pool_executor& handle;  // used only inside calls on it
};

// ---- snapshot.cpp

[[nodiscard]] pool_snapshot snapshot_of(const pool& p);
[[nodiscard]] std::string describe(const pool& p);
/// The numbers in the message of a rejection.
[[nodiscard]] std::string rejection_numbers(const pool& p);

/// The handle's only friend: for the parts of the library that get a handle.
class pool_access {
public:
    [[nodiscard]] static pool& of(const thread_pool_executor& handle) noexcept { return handle.use(); }
    static void on_shutdown(thread_pool_executor& handle) { handle.on_shutdown(); }
    /// All pools of the process; see fork_list.
    [[nodiscard]] static std::vector<pool_handle> all();
    /// `fresh` replaces the pool of `handle` in a forked child.
    static void reinitialize_after_fork(const thread_pool_executor& handle, pool& fresh) {
        handle.reinitialize_after_fork(fresh.backlog.queue(), &fresh,
                                       thread_pool_executor::requeue_handle{fresh.weak_from_this()});
    }
};

}  // namespace detail
}  // namespace spool::inline v1
