// detail::pool holds the parts of one pool. Parts own state and know no protocol. Paths hold the
// protocols and own no state: admission_path (a task arrives), worker_path (a worker's life),
// lifecycle_path (the pool ends), task_runner (a task runs), kept_tasks and rejection_path (a task
// is refused). A path is made for one call: admission_path{pool}.execute(...).
//
// Locks: those of worker_roster and current_settings. No path holds a lock. So no user code runs
// under one (hooks, handlers, factories, stop callbacks, moves and destructors of tasks).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/fork/fork_registry.hpp"
#include "pool/backlog.hpp"
#include "pool/calls_under_way.hpp"
#include "pool/control_word.hpp"
#include "pool/current_settings.hpp"
#include "pool/deadlock/watched_pool.hpp"
#include "pool/pool_config.hpp"
#include "pool/termination.hpp"
#include "pool/worker/worker_roster.hpp"
#include "spool/detail/cache_line.hpp"
#include "spool/detail/future_link.hpp"
#include "spool/detail/spinning.hpp"
#include "spool/detail/state_memory.hpp"
#include "spool/pool/thread_pool_executor.hpp"

namespace spool::inline v1 {

/// The number of rejected tasks.
class rejection_log {
public:
    void count() noexcept { rejected_.fetch_add(1); }
    [[nodiscard]] std::uint64_t total() const noexcept { return rejected_.load(); }

private:
    std::atomic<std::uint64_t> rejected_{0};  // statistic
};

namespace detail {

/// The pool as the search for deadlocks sees it.
class pool_watch final : public watched_pool {
public:
    explicit pool_watch(pool& watched) noexcept : pool_(watched) {}
    [[nodiscard]] const void* id() const noexcept override { return &pool_; }
    [[nodiscard]] const std::string& name() const noexcept override;
    [[nodiscard]] const deadlock_policy& policy() const noexcept override;
    [[nodiscard]] bool cannot_progress(std::size_t waiting) const noexcept override;
    bool lend_thread(task_id wanted, future_link::readiness ready) noexcept override;
    [[nodiscard]] std::shared_ptr<watched_pool> keep() override;

private:
    pool& pool_;
};

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
    /// Calls thread_pool_executor::on_shutdown() of the derived pool.
    void on_shutdown();

    // ---- The parts

    const pool_config config;
    // Every task reads this cache line and the next. Put nothing there that is written often.
    alignas(cache_line) control_word control;
    const bool is_bare;  // see pool_config::is_bare()
    current_settings settings;
    alignas(cache_line) task_backlog backlog;
    alignas(cache_line) worker_roster roster{config.name, control};
    pool_termination termination;
    rejection_log rejections;
    detail::state_depot memory;  // of futures
    recent_waits idle_waits;     // how long idle workers waited for their next task
    calls_under_way calls;
    pool_watch watch{*this};

    const long made_in;    // the id of the process that made the pool
    abandonable in_child;  // see fork/pool_fork.hpp

    // The handle may die before the pool, so only calls through the handle use it.
    thread_pool_executor& handle;
};

inline const std::string& pool_watch::name() const noexcept {
    return pool_.config.name;
}
inline const deadlock_policy& pool_watch::policy() const noexcept {
    return pool_.config.on_deadlock;
}

// ---- snapshot.cpp

[[nodiscard]] pool_snapshot snapshot_of(const pool& p);
[[nodiscard]] std::string describe(const pool& p);
/// The numbers in the message of a rejection.
[[nodiscard]] std::string rejection_numbers(const pool& p);

/// Gives library code that has a thread_pool_executor access to its detail::pool.
class pool_access {
public:
    [[nodiscard]] static pool& of(const thread_pool_executor& handle) noexcept { return handle.use(); }
    static void on_shutdown(thread_pool_executor& handle) { handle.on_shutdown(); }
    /// `fresh` replaces the pool of `handle` in a forked child.
    static void reinitialize_after_fork(const thread_pool_executor& handle, pool& fresh) {
        handle.reinitialize_after_fork(fresh.backlog.queue(), &fresh,
                                       thread_pool_executor::requeue_handle{fresh.weak_from_this()});
    }
};

}  // namespace detail
}  // namespace spool::inline v1
