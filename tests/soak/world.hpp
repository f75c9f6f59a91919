// world: the pools of one round, its ledger and its problems.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <spool/spool.hpp>

#include "dice.hpp"
#include "ledger.hpp"
#include "plants.hpp"

namespace soak {

struct world;
class managed;

/// What the test knows of a pool, also after the pool is destroyed.
struct slot {
    std::size_t index = 0;
    world* in = nullptr;
    std::string settings;
    bool hooked = false;  // has hooks, so every refusal is known by its task id
    bool hooks_throw = false;
    std::atomic<bool> factory_fails{false};      // the factory does not start some threads
    std::atomic<bool> drops_bodies{false};       // some threads drop their worker's body
    bool ends_itself = false;                    // one of its tasks drops the last handle
    bool never_ends = false;                     // periodic tasks continue after shutdown()
    bool order_throws = false;                   // the queue's comparator throws sometimes
    std::atomic<bool> was_stopped{false};        // an operation has begun a shutdown
    mutable std::atomic<bool> may_evict{false};  // a policy may evict a queued task
    // A policy, a hook or a factory may drop a task that it was given.
    mutable std::atomic<bool> may_drop{false};

    std::weak_ptr<managed> handle;
    std::atomic<spool::thread_pool_executor*> raw{nullptr};  // for its own tasks, which it outlives
    std::function<void(std::size_t)> set_capacity;           // empty: fixed capacity

    // The task that ended the pool was stopped, so the pool may have dropped its queue.
    std::atomic<bool> discards{false};
    std::atomic<int> threads_begun{0};
    std::atomic<int> threads_ended{0};
    std::atomic<int> workers_started{0};
    std::atomic<int> workers_stopped{0};
    std::atomic<int> terminations{0};
    std::atomic<int> late_stops{0};  // workers that stopped after the `terminated` hook
    std::atomic<int> reported{0};    // calls of the `rejected` hook
    std::atomic<std::uint64_t> uncaught{0};
    std::atomic<std::uint64_t> untracked{0};   // tasks without an entry
    std::optional<spool::pool_snapshot> last;  // taken after termination
};

/// Owns a pool. The thread that drops the last handle ends the pool.
class managed {
public:
    managed(slot& at, std::unique_ptr<spool::thread_pool_executor> pool) noexcept;
    managed(const managed&) = delete;
    managed& operator=(const managed&) = delete;
    ~managed();
    [[nodiscard]] spool::thread_pool_executor& pool() const { return *pool_; }

private:
    slot& at_;
    std::unique_ptr<spool::thread_pool_executor> pool_;
};

/// The slot of the pool whose worker this thread is, or null.
[[nodiscard]] slot*& worker_of() noexcept;

struct world {
    explicit world(std::uint64_t seed, plant planted);
    world(const world&) = delete;
    world& operator=(const world&) = delete;

    void report(std::string problem);
    /// Counts one operation.
    void did() { operations.fetch_add(1, std::memory_order_relaxed); }
    /// Records an event of the task with this id. The event enters the ledger at the end, when all
    /// ids are known.
    void note(spool::task_id id, std::atomic<int> entry::*field);
    /// Keeps tasks that no worker will run. The sweeper calls or destroys them.
    void keep(std::vector<spool::task> back);

    const std::uint64_t seed;
    const plant planted;
    std::vector<std::unique_ptr<slot>> slots;
    ledger tasks;
    std::atomic<std::uint64_t> operations{0};
    std::atomic<bool> ending{false};       // no new long-lasting operations
    std::atomic<bool> handles_out{false};  // a task may hold the last handle of a pool

    std::mutex mutex;  // guards the members below
    std::vector<std::string> problems;
    std::vector<spool::task> kept;
    std::vector<std::pair<spool::task_id, std::atomic<int> entry::*>> seen;
};

/// Makes the random pool of a slot.
[[nodiscard]] std::shared_ptr<managed> make_pool(slot& at, dice chance);
[[nodiscard]] spool::rejection_policy pick_policy(const slot& at, dice& chance, std::string* name);
[[nodiscard]] spool::thread_factory pick_factory(slot& at, dice& chance, std::string* name);
[[nodiscard]] std::shared_ptr<spool::pool_hooks> make_hooks(slot& at, std::uint64_t seed);
/// A factory that never fails.
[[nodiscard]] spool::thread_factory sound_factory(slot& at);

/// Where an operation runs: on a driver, or inside a task.
struct place {
    world& in;
    dice& chance;
    int depth = 0;         // how many tasks enclose the operation
    slot* home = nullptr;  // the pool of the task; null for a driver
};

/// Executes one random operation on a pool that the place may use.
void operate(const place& at);
/// Forks a group of children on this pool and waits for the group.
void fork_and_join(const place& at, slot& where, spool::thread_pool_executor& pool);
/// A parallel loop or sort.
void loop(const place& at, slot& where, spool::thread_pool_executor& pool);
/// A pool that the place may use. A driver may use any pool, a task its own pool and earlier ones.
/// So waits point to earlier pools only, and no two tasks wait for each other.
struct usable {
    slot* where = nullptr;  // null: no pool
    spool::thread_pool_executor* pool = nullptr;
    std::shared_ptr<managed> held{};  // keeps the pool alive; empty on its worker
};
[[nodiscard]] usable pick_pool(const place& at);
[[nodiscard]] usable pool_of(const place& at, std::size_t index);
/// Rethrows if this task is stopped. Must be called in a handler of `interrupted`, which another
/// task may have thrown.
inline void rethrow_if_stopped() {
    if (spool::this_task::stop_requested()) {
        throw;
    }
}
/// True on a thread whose tasks must use no pool.
[[nodiscard]] bool& keeps_off() noexcept;

/// What the tasks, hooks and factories of a round throw.
struct on_purpose : std::exception {
    [[nodiscard]] const char* what() const noexcept override { return "on purpose"; }
};

}  // namespace soak
