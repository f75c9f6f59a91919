// deadlock_watch: all waits of workers that may last, and whether they can ever end.
//
// A worker that has slept for a while without a limit puts its wait into the list, and looks at the list now and then for as long as it sleeps; nobody
// else does. Nobody leaves its wait without the lock of the list, so whoever looks sees waits that all last at that time.
//
// A wait is stuck if what it waits for can only come from waits that are stuck:
//
//     a future that is being run       by the thread of a stuck wait
//     a future that is queued, room,   of a pool that cannot grow and all of whose workers are in stuck waits
//     the children of a group
//
// All waits are taken for stuck at first, and those that are not are struck out until nothing changes. Each doubt strikes out: a future that no pool
// has, a task that is between two states, a stop that was requested, a worker that is in no wait that we know.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <stop_token>
#include <string>

#include "pool/pool_core.hpp"
#include "spool/base/deadline.hpp"
#include "spool/base/function_ref.hpp"

namespace spool::inline v1 {

struct thread_pool_executor::core::blocked_wait {
    enum class what { futures, group, room };

    self_service* worker;     // the innermost of this thread
    const task_scope* scope;  // likewise
    what kind;
    std::span<const future_link> futures;  // any of them ends it
    core* pool;                            // whose room, or whose group
    const std::stop_token* stop;
    deadline::time_point since = deadline::clock::now();

    // Guarded by the lock of the list:
    blocked_wait* next = nullptr;
    blocked_wait** link_here = nullptr;
    std::size_t reported = 0;  // the number of the deadlock that it is in
    std::string doom{};        // not empty: it is to throw this
};

class thread_pool_executor::core::deadlock_watch {
public:
    /// How long a wait lasts before it is watched, and how often it then looks.
    static constexpr std::chrono::milliseconds first_look{100};
    static constexpr std::chrono::milliseconds between_looks{250};

    /// For a wait of the current thread without a limit. `sleep` is the wait itself; the answer is its own. \throws deadlock
    static wait_result wait(core& pool, blocked_wait::what kind, const std::stop_token& stop,
                            function_ref<wait_result(deadline)> sleep);
    /// The rest of a wait that has lasted for first_look.
    static wait_result go_on(blocked_wait& wait, function_ref<wait_result(deadline)> sleep);

    static std::size_t look();
    [[nodiscard]] static std::size_t waiting();

private:
    class finder;
    struct finding;
    struct list;
};

}  // namespace spool::inline v1
