// deadlock_watch: all waits of workers that may last, and whether they can ever end.
//
// A worker that has slept for a while without a limit puts its wait into the list. No worker leaves
// its wait without the lock of the list. So the worker that checks the list sees waits that all
// last at that time.
//
// One of the waits in the list is the watcher. Its worker wakes now and then and checks the whole
// list. The other workers sleep until what they wait for comes, or until they are called, through
// the stop token of that sleep. A wait is called when it becomes the watcher, and when it is to
// throw. Under the lock of the list:
//
//     (W)  a list that is not empty has a watcher, which is before, in or after a limited sleep, or
//          whose call is under way
//     (C)  a wait reads its part and sets up a new call in one critical section: any later change
//          calls it out of the next sleep
//
// The watcher passes its part on before it calls a handler, and when it leaves the list. So many
// waiters cost no more than one, but for the check itself: the longer a check takes, the longer the
// watcher sleeps.
//
// A wait is stuck if what it waits for can only come from waits that are stuck:
//
//     a future that is being run       by the thread of a stuck wait
//     a future that is queued, room,   of a pool that cannot grow and all of whose workers are in
//     the children of a group          stuck waits
//
// At first the finder takes all waits for stuck. It strikes out those that are not, until nothing
// changes. Each doubt strikes a wait out: a future that no pool has, a task that is between two
// states, a stop that was requested, a worker that is in no known wait.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <stop_token>
#include <string>

#include "pool/deadlock/watched_pool.hpp"
#include "spool/base/deadline.hpp"
#include "spool/base/function_ref.hpp"
#include "spool/detail/task_scope.hpp"
#include "spool/sync/wait_limits.hpp"

namespace spool::inline v1 {

class worker_wait_context;

struct blocked_wait {
    enum class what { futures, group, room };

    const watched_worker* worker;  // the innermost of this thread
    const task_scope* scope;       // the innermost of this thread
    what kind;
    std::span<const future_link> futures;  // any of them ends the wait
    watched_pool* pool;                    // the pool of the queue or of the group; else null
    const std::stop_token* stop;
    deadline::time_point since = deadline::clock::now();

    // Guarded by the lock of the list:
    std::stop_source call{std::nostopstate};  // ends the sleep of this wait early
    bool to_call = false;                     // `doom` was set, and the wait was not called since
    unsigned born = 0;                        // the generation of the list
    blocked_wait* next = nullptr;
    blocked_wait** link_here = nullptr;
    std::size_t reported = 0;  // the number of the deadlock that the wait is in
    bool told = false;         // a report has named the wait
    std::string doom{};        // not empty: the wait is to throw this
};

class deadlock_watch {
public:
    using sleeper = nested_waiter::sleeper;
    /// How long a wait lasts before it is watched, and how long the watcher sleeps between two
    /// checks. A long check delays the next one: checks take at most one part in `check_share` of
    /// the time, up to a sleep of `most_between_checks`.
    static constexpr std::chrono::milliseconds first_check{100};
    static constexpr std::chrono::milliseconds between_checks{250};
    static constexpr std::chrono::milliseconds most_between_checks{750};
    static constexpr int check_share = 200;

    /// For a wait of the current thread without a limit. `sleep` is the wait itself, and wait()
    /// returns what `sleep` returns. \throws deadlock
    static wait_result wait(watched_pool& pool, blocked_wait::what kind, const std::stop_token& stop,
                            sleeper sleep);
    /// Continues a wait of a worker that has lasted for first_check.
    static wait_result continue_wait(worker_wait_context& self, blocked_wait& wait, sleeper sleep);

    /// Looks for deadlocks and acts on them. `watcher` is the caller's wait, or null; it passes its
    /// part on before a handler is called. Returns how many deadlocks were reported.
    static std::size_t check(blocked_wait* watcher = nullptr);
    /// How many waits are in the list.
    [[nodiscard]] static std::size_t waiting();

private:
    struct list;
};

}  // namespace spool::inline v1
