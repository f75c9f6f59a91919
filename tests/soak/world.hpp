// world: one round's pools, its ledger and what went wrong in it.
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

/// What is known of a pool, also when it is gone.
struct slot {
    std::size_t index = 0;
    world* in = nullptr;
    std::string settings;
    bool hooked = false;  // has hooks, so that every refusal is known by its id
    bool hooks_throw = false;
    std::atomic<bool> factory_fails{false};      // some threads are not started
    std::atomic<bool> drops_bodies{false};       // some threads are started and forget what they are for
    bool ends_itself = false;                    // a task of its own drops the last handle
    bool never_ends = false;                     // periodic tasks go on after shutdown()
    bool order_throws = false;                   // the comparator of its queue throws now and then
    std::atomic<bool> was_stopped{false};        // an operation has begun to shut it down
    mutable std::atomic<bool> may_evict{false};  // a policy may take a queued task out for another
    mutable std::atomic<bool> may_drop{false};   // a policy, a hook or a factory may drop a task that it took

    std::weak_ptr<managed> handle;
    std::atomic<spool::thread_pool_executor*> raw{nullptr};  // for its own tasks: while they run it is there
    std::function<void(std::size_t)> set_capacity;           // where the queue has a capacity to change

    std::atomic<bool> discards{
        false};  // its end was hurried by the stop of the task that ended it: the queue may be dropped
    std::atomic<int> threads_begun{0};
    std::atomic<int> threads_ended{0};
    std::atomic<int> workers_started{0};
    std::atomic<int> workers_stopped{0};
    std::atomic<int> terminations{0};
    std::atomic<int> late_stops{0};  // workers that stopped after the `terminated` hook
    std::atomic<int> reported{0};    // calls of the `rejected` hook
    std::atomic<std::uint64_t> uncaught{0};
    std::atomic<std::uint64_t> untracked{0};   // tasks without an entry
    std::optional<spool::pool_snapshot> last;  // when it had terminated; written where the pool ends
};

/// Owns a pool; the last handle that is dropped ends it, wherever that is.
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

/// The pool that this thread is a worker of, or null.
[[nodiscard]] slot*& worker_of() noexcept;

struct world {
    explicit world(std::uint64_t seed, plant planted);
    world(const world&) = delete;
    world& operator=(const world&) = delete;

    void report(std::string problem);
    /// Counts one operation.
    void did() { operations.fetch_add(1, std::memory_order_relaxed); }
    /// Something happened to the task of this id; it is put into the ledger in the end, when all ids are known.
    void note(spool::task_id id, std::atomic<int> entry::*field);
    /// Keeps tasks that nobody will run any more; the sweeper calls or destroys them.
    void keep(std::vector<spool::task> back);

    const std::uint64_t seed;
    const plant planted;
    std::vector<std::unique_ptr<slot>> slots;
    ledger tasks;
    std::atomic<std::uint64_t> operations{0};
    std::atomic<bool> ending{false};       // nothing that lasts is begun any more
    std::atomic<bool> handles_out{false};  // a task may hold the last handle of a pool

    std::mutex mutex;  // guards the rest
    std::vector<std::string> problems;
    std::vector<spool::task> kept;
    std::vector<std::pair<spool::task_id, std::atomic<int> entry::*>> seen;
};

/// Makes the pool of a slot, by its dice.
[[nodiscard]] std::shared_ptr<managed> make_pool(slot& at, dice chance);
[[nodiscard]] spool::rejection_policy pick_policy(const slot& at, dice& chance, std::string* name);
[[nodiscard]] spool::thread_factory pick_factory(slot& at, dice& chance, std::string* name);
[[nodiscard]] std::shared_ptr<spool::pool_hooks> make_hooks(slot& at, std::uint64_t seed);
/// One that never fails.
[[nodiscard]] spool::thread_factory sound_factory(slot& at);

/// Where an operation is made: by a driver, or inside of a task.
struct place {
    world& in;
    dice& chance;
    int depth = 0;         // tasks around it
    slot* home = nullptr;  // the pool of the task; null for a driver
};

/// One operation, on a pool that the place may use.
void operate(const place& at);
/// A group of children on this pool, and wait for it.
void fork_and_join(const place& at, slot& where, spool::thread_pool_executor& pool);
/// A pool that the place may use: any for a driver; for a task its own, and those before it. Waits go that way only, so that no two wait for
/// each other.
struct usable {
    slot* where = nullptr;  // null: none
    spool::thread_pool_executor* pool = nullptr;
    std::shared_ptr<managed> held{};  // keeps it; empty for a worker of the pool
};
[[nodiscard]] usable pick_pool(const place& at);
[[nodiscard]] usable pool_of(const place& at, std::size_t index);
/// In a handler of `interrupted`, which may be what another task threw.
inline void rethrow_if_stopped() {
    if (spool::this_task::stop_requested()) {
        throw;
    }
}
/// Set on a thread whose tasks must not use any pool.
[[nodiscard]] bool& keeps_off() noexcept;

/// What a round's tasks throw, its hooks and its factories.
struct on_purpose : std::exception {
    [[nodiscard]] const char* what() const noexcept override { return "on purpose"; }
};

}  // namespace soak
