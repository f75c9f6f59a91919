// The list of all pools of the process, for a forked child. fork() waits for its lock.
#include "pool/fork/pool_fork.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "pool/worker/worker_wait_context.hpp"
#include "spool/base/error.hpp"
#include "spool/detail/mutex.hpp"

namespace spool::inline v1 {
namespace {

constinit detail::mutex list_mutex;  // guards the list, and which pool a handle has
constinit detail::process_local_pool* first SPOOL_GUARDED_BY(list_mutex) = nullptr;

[[noreturn]] void end_process(const std::string& text) noexcept {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::abort();
}

[[noreturn]] void abort_in_child(const detail::pool& pool, const std::string& why) noexcept {
    try {
        end_process("spool: " + pool.config.label + " was made in process " + std::to_string(pool.made_in) +
                    ", and this is process " + std::to_string(detail::process_id()) +
                    ", forked from it: " + why +
                    ". Its threads and tasks are the parent's. In the child call exec or _exit, or make a "
                    "pool there, or set "
                    "pool_options::on_fork to fork_policy::empty.\n");
    } catch (...) {
        end_process("spool: a thread_pool_executor was used in a forked child\n");
    }
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
    pool.settings.copy_without_lock(options);
    return options;
}

// Makes a new, empty pool with the settings of the abandoned one.
std::shared_ptr<detail::pool> reinitialize_after_fork(const detail::pool& pool) {
    auto fresh = std::make_shared<detail::pool>(pool.handle, options_after_fork(pool),
                                                pool.config.queue_first, pool.config.clock);
    if (!accepts_tasks(pool.control.load().state)) {
        fresh->control.advance_to(run_state::terminated);
    }
    detail::pool_access::reinitialize_after_fork(pool.handle, *fresh);
    return fresh;
}

// The thread that forked may be a worker inside a task: all that it may still do is leave the task.
void detach_own_workers() noexcept {
    for (auto* w = dynamic_cast<worker_wait_context*>(nested_waiter::current()); w != nullptr;
         w = w->outer()) {
        w->detach();
    }
}

}  // namespace

void end_task_in_child(const detail::pool& pool) noexcept {
    if (pool.config.on_fork == fork_policy::abort) {
        abort_in_child(pool, "a task that forked has returned there, to a worker that is none");
    }
}

const bool detail::process_local_pool::joins_forks =
    join_forks(fork_order::pools, {&list_mutex, abandon_all});

detail::process_local_pool::process_local_pool(std::shared_ptr<pool> made)
    : here_(made.get()), kept_(std::move(made)) {
    const lock_guard lock{list_mutex};
    next_ = first;
    if (first != nullptr) {
        first->link_here_ = &next_;
    }
    first = this;
    link_here_ = &first;
}

detail::process_local_pool::~process_local_pool() {
    const lock_guard lock{list_mutex};
    *link_here_ = next_;
    if (next_ != nullptr) {
        next_->link_here_ = link_here_;
    }
}

void detail::process_local_pool::abandon_all() noexcept {
    list_mutex.assert_held();
    for (process_local_pool* at = first; at != nullptr; at = at->next_) {
        if (at->kept_ != nullptr) {
            at->parents_ = at->kept_.get();
            at->here_.store(nullptr);
            at->parents_->in_child.abandon(at->parents_, std::move(at->kept_));
        }
    }
    detach_own_workers();
}

void detail::process_local_pool::make_own() const noexcept {
    if (parents_->config.on_fork == fork_policy::abort) {
        abort_in_child(*parents_, "it was used there");
    }
    try {
        std::shared_ptr<pool> fresh = reinitialize_after_fork(*parents_);
        const lock_guard lock{list_mutex};
        if (here_.load() == nullptr) {  // else another thread was faster
            kept_.swap(fresh);          // it was empty
            // (F) release: hands the new pool over to get()
            here_.store(kept_.get(), std::memory_order_release);
        }
    } catch (...) {
        abort_in_child(*parents_,
                       "it could not be made anew (" + spool::describe(std::current_exception()) + ")");
    }
}

}  // namespace spool::inline v1
