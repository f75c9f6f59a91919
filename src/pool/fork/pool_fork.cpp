#include "pool/fork/pool_fork.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/fork_handlers.hpp"

namespace spool::inline v1 {
namespace {

[[noreturn]] void end_process(const std::string& text) noexcept {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::abort();
}

// Reads only what is whole at every instant.
pool_options options_after_fork(const detail::pool& pool) {
    const pool_config& config = pool.config;
    pool_options options{.name = config.name,
                         .queue = pool.backlog.queue().fresh(),
                         .hooks = config.hooks,
                         .decorate = config.decorate,
                         .uncaught = config.uncaught,
                         .task_times = config.task_times,
                         .idle_spin = config.idle_spin,
                         .on_fork = config.on_fork,
                         .on_deadlock = config.on_deadlock};
    pool.settings.copy_after_fork(options);
    return options;
}

}  // namespace

void abandon_in_child(std::shared_ptr<detail::pool> pool) noexcept {
    detail::pool& self = *pool;
    self.self_in_child = std::move(pool);
    self.abandoned.abandon(&self);
}

void end_task_in_child(const detail::pool& pool) noexcept {
    if (pool.config.on_fork == fork_policy::abort) {
        abort_in_child(pool, "a task that forked has returned there, to a worker that is none");
    }
}

void abort_in_child(const detail::pool& pool, const std::string& why) noexcept {
    try {
        end_process("spool: " + pool.config.label + " was made in process " + std::to_string(pool.made_in) +
                    ", and this is process " + std::to_string(process_id()) + ", forked from it: " + why +
                    ". Its threads and tasks are the parent's. In the child call exec or _exit, or make a "
                    "pool there, or set "
                    "pool_options::on_fork to fork_policy::empty.\n");
    } catch (...) {
        end_process("spool: a thread_pool_executor was used in a forked child\n");
    }
}

std::shared_ptr<detail::pool> reinitialize_after_fork(const detail::pool& pool) {
    auto fresh = std::make_shared<detail::pool>(pool.handle, options_after_fork(pool),
                                                pool.config.queue_first, pool.config.clock);
    if (!accepts_tasks(pool.control.load().state)) {
        fresh->control.advance_to(run_state::terminated);
    }
    detail::pool_access::reinitialize_after_fork(pool.handle, *fresh);
    return fresh;
}

}  // namespace spool::inline v1
