// Makes a random pool: queue kind, sizes, times, hooks, decorator, spinning; or a scheduled pool.
#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "hostile.hpp"
#include "own_queue.hpp"
#include "world.hpp"

namespace soak {
namespace {

using namespace std::chrono_literals;
using spool::task;
using queue_pointer = std::unique_ptr<spool::blocking_queue<task>>;

template <class Queue, class... Args>
queue_pointer named(slot& at, const char* name, Args... args) {
    at.settings += name;
    auto made = std::make_unique<Queue>(args...);
    at.set_capacity = [queue = made.get()](std::size_t n) {
        try {
            queue->set_capacity(n);
        } catch (const std::logic_error&) {  // this kind has a fixed capacity
        }
    };
    return made;
}

queue_pointer pick_queue(slot& at, dice& chance) {
    const std::size_t room = 1 + chance.below(12);
    switch (chance.below(16)) {
        case 0: return named<spool::linked_blocking_queue<task>>(at, "linked");
        case 1: return named<spool::linked_blocking_queue<task, 2>>(at, "linked in segments of 2");
        case 2: return named<spool::linked_blocking_queue<task>>(at, "linked, bounded", room);
        case 3:
            return named<spool::linked_blocking_queue<task, 3>>(at, "linked in segments of 3, bounded", room);
        case 4: return named<spool::array_blocking_queue<task>>(at, "array", room);
        case 5: return named<spool::priority_blocking_queue<task>>(at, "priority");
        case 6: return named<spool::delay_queue<task>>(at, "delay");
        case 7: return named<spool::linked_transfer_queue<task>>(at, "transfer");
        case 8: return named<spool::linked_blocking_deque<task>>(at, "deque");
        case 9:
            return named<spool::linked_blocking_deque<task>>(at, "deque, bounded, newest first", room,
                                                             spool::deque_order::lifo);
        case 10: return named<spool::synchronous_queue<task>>(at, "synchronous");
        case 11: return named<spool::synchronous_queue<task>>(at, "fair synchronous", spool::fairness::fair);
        case 12: return named<own_queue>(at, "the user's own");
        case 13:
            at.order_throws = true;
            return named<spool::priority_blocking_queue<task, moody_order>>(
                at, "priority, comparisons that throw", moody_order{at});
        default: return named<spool::work_stealing_queue<task>>(at, "work stealing");
    }
}

spool::idle_spin pick_spin(slot& at, dice& chance) {
    switch (chance.below(4)) {
        case 0: return spool::idle_spin::adaptive();
        case 1: at.settings += ", no spin"; return spool::idle_spin::off();
        case 2: at.settings += ", low latency"; return spool::idle_spin::low_latency();
        default: at.settings += ", spin 50 us"; return spool::idle_spin::always(50us);
    }
}

bool coin(slot& at, dice& chance, const char* name) {
    const bool heads = chance.one_in(2);
    at.settings += heads ? std::string{", "} + name : "";
    return heads;
}

spool::task_decorator pick_decorator(slot& at, dice& chance) {
    if (!chance.one_in(4)) {
        return nullptr;
    }
    at.settings += ", decorated";
    return [](task inner) { return task{[inner = std::move(inner)]() mutable { inner(); }}; };
}

spool::uncaught_policy counted(slot& at) {
    return [&at](const spool::worker_info&, const std::exception_ptr&) { ++at.uncaught; };
}

// No round makes workers wait for each other in a cycle, so every report is a false one.
spool::deadlock_policy pick_deadlock_policy(slot& at, dice& chance) {
    const auto report = [&at](const spool::deadlock_report& r) {
        at.in->report("a deadlock is reported where there is none: " + to_string(r));
    };
    switch (chance.below(3)) {
        case 0: return spool::deadlock_policy::report(report);
        case 1: return spool::deadlock_policy::throw_(report);
        default: return spool::deadlock_policy::lend(report);
    }
}

std::unique_ptr<spool::thread_pool_executor> make_timers(slot& at, dice& chance) {
    at.settings += "scheduled";
    const bool may_time_out = coin(at, chance, "core may time out");
    at.never_ends = chance.one_in(4);
    at.settings += at.never_ends ? ", periodic run on" : "";
    const std::size_t core = chance.below(4);
    at.settings += ", core " + std::to_string(core);
    return std::make_unique<spool::scheduled_thread_pool_executor>(
        spool::scheduled_pool_options{.name = "soak" + std::to_string(at.index),
                                      .core_size = core,
                                      .keep_alive = std::chrono::microseconds{20 + chance.below(2000)},
                                      .core_threads_may_time_out = may_time_out,
                                      .thread_factory = pick_factory(at, chance, &at.settings),
                                      .rejection = pick_policy(at, chance, &at.settings),
                                      .hooks = at.hooked ? make_hooks(at, chance()) : nullptr,
                                      .decorate = pick_decorator(at, chance),
                                      .uncaught = counted(at),
                                      .task_times = coin(at, chance, "times"),
                                      .run_delayed_after_shutdown = coin(at, chance, "delayed run on"),
                                      .run_periodic_after_shutdown = at.never_ends,
                                      .remove_on_cancel = coin(at, chance, "remove on cancel")});
}

std::unique_ptr<spool::thread_pool_executor> make_plain(slot& at, dice& chance) {
    queue_pointer queue = at.in->planted != plant::none && at.in->planted < plant::leaked_thread
                              ? std::make_unique<own_queue>(at.in->planted)
                              : pick_queue(at, chance);
    const std::size_t core = chance.below(4);
    const std::size_t most = std::max<std::size_t>(core, 1) + chance.below(3);
    at.settings += ", " + std::to_string(core) + " to " + std::to_string(most) + " workers";
    const bool may_time_out = coin(at, chance, "core may time out");
    return std::make_unique<spool::thread_pool_executor>(
        spool::pool_options{.name = "soak" + std::to_string(at.index),
                            .core_size = core,
                            .maximum_size = most,
                            .keep_alive = std::chrono::microseconds{20 + chance.below(2000)},
                            .core_threads_may_time_out = may_time_out,
                            .queue = std::move(queue),
                            .thread_factory = pick_factory(at, chance, &at.settings),
                            .rejection = pick_policy(at, chance, &at.settings),
                            .hooks = at.hooked ? make_hooks(at, chance()) : nullptr,
                            .decorate = pick_decorator(at, chance),
                            .uncaught = counted(at),
                            .task_times = coin(at, chance, "times"),
                            .idle_spin = pick_spin(at, chance),
                            .on_deadlock = pick_deadlock_policy(at, chance)});
}

}  // namespace

std::shared_ptr<managed> make_pool(slot& at, dice chance) {
    at.settings = "pool " + std::to_string(at.index) + ": ";
    at.ends_itself = chance.one_in(4);
    at.hooked = chance.one_in(2);
    at.hooks_throw = at.hooked && chance.one_in(3);
    at.may_drop = at.hooks_throw;
    const bool scheduled = chance.one_in(4) && at.in->planted == plant::none;
    auto made = std::make_shared<managed>(at, scheduled ? make_timers(at, chance) : make_plain(at, chance));
    at.settings += at.hooked ? (at.hooks_throw ? ", hooks that throw" : ", hooks") : "";
    at.settings += at.ends_itself ? ", ended by its own task" : "";
    at.handle = made;
    return made;
}

}  // namespace soak
