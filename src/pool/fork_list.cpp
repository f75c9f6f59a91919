// What happens to the pools in a forked child.
//
// The child has one thread, the one that forked, and a copy of everything as it was at that
// instant. Other threads may have been inside any lock, or in the middle of a change of the queue.
// So the child does not use a pool's core any more. The handle releases the core, which stays in
// memory for as long as the process: neither the core nor a task in it is destroyed. At the next
// use the handle finds no core (use()). The handle then either ends the process, or makes a new
// core from those settings that are whole at every instant.
//
// The fork handlers need only the list itself, and fork() waits for its lock. They run no user code
// and allocate nothing.
#include "pool/fork_list.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/when_forking.hpp"
#include "pool/pool.hpp"
#include "pool/worker_wait_context.hpp"
#include "spool/base/error.hpp"
#include "spool/detail/mutex.hpp"

namespace spool::inline v1 {
namespace {

constinit detail::mutex list_mutex;  // guards the list, and which core a handle has
constinit thread_pool_executor* first SPOOL_GUARDED_BY(list_mutex) = nullptr;

[[noreturn]] void end_process(const std::string& text) noexcept {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::abort();
}

}  // namespace

const bool thread_pool_executor::fork_list::watching = when_forking(before_fork, in_parent, in_child);

void thread_pool_executor::fork_list::add(thread_pool_executor& pool) {
    const detail::lock_guard lock{list_mutex};
    pool.here_.store(pool.core_.get());
    pool.next_ = first;
    if (first != nullptr) {
        first->link_here_ = &pool.next_;
    }
    first = &pool;
    pool.link_here_ = &first;
}

void thread_pool_executor::fork_list::remove(thread_pool_executor& pool) noexcept {
    const detail::lock_guard lock{list_mutex};
    *pool.link_here_ = pool.next_;
    if (pool.next_ != nullptr) {
        pool.next_->link_here_ = pool.link_here_;
    }
}

void thread_pool_executor::fork_list::put_in_place(const thread_pool_executor& pool,
                                                   std::shared_ptr<detail::pool> fresh) {
    const detail::lock_guard lock{list_mutex};
    if (pool.here_.load() == nullptr) {
        pool.core_.swap(fresh);  // it was empty
        // (F) release: hands the new core over to use()
        pool.here_.store(pool.core_.get(), std::memory_order_release);
    }
}

void thread_pool_executor::fork_list::before_fork() SPOOL_ACQUIRE(list_mutex) {
    list_mutex.lock();
}
void thread_pool_executor::fork_list::in_parent() SPOOL_RELEASE(list_mutex) {
    list_mutex.unlock();
}
void thread_pool_executor::fork_list::in_child() SPOOL_RELEASE(list_mutex) {
    survive_fork();
    for (thread_pool_executor* pool = first; pool != nullptr; pool = pool->next_) {
        if (pool->core_ != nullptr) {
            pool->lost_ = pool->core_.get();
            pool->here_.store(nullptr);
            pool->lost_->leave_to_parent(std::move(pool->core_));
        }
    }
    let_own_workers_go();
    list_mutex.unlock();
}

// The thread that forked may be a worker inside a task: all that it may still do is leave the task.
void thread_pool_executor::fork_list::let_own_workers_go() noexcept {
    for (auto* w = dynamic_cast<worker_wait_context*>(nested_waiter::current()); w != nullptr;
         w = w->outer()) {
        w->let_go();
    }
}

void detail::pool::leave_to_parent(std::shared_ptr<detail::pool> self) noexcept {
    kept_ = std::move(self);
    lost_.lose(this);
}

// The worker that forked calls this when its task has ended.
void detail::pool::end_in_child() const noexcept {
    if (config.on_fork == fork_policy::abort) {
        abort_in_child("a task that forked has returned there, to a worker that is none");
    }
}

void detail::pool::abort_in_child(const std::string& why) const noexcept {
    try {
        end_process("spool: " + config.label + " was made in process " + std::to_string(born_in_) +
                    ", and this is process " + std::to_string(process_id()) + ", forked from it: " + why +
                    ". Its threads and tasks are the parent's. In the child call exec or _exit, or make a "
                    "pool there, or set "
                    "pool_options::on_fork to fork_policy::empty.\n");
    } catch (...) {
        end_process("spool: a thread_pool_executor was used in a forked child\n");
    }
}

// In the child: reads only what is whole at every instant.
pool_options detail::pool::settings_after_fork() const {
    pool_options options{.name = config.name,
                         .queue = backlog.queue().fresh(),
                         .hooks = config.hooks,
                         .decorate = config.decorate,
                         .uncaught = config.uncaught,
                         .task_times = config.task_times,
                         .idle_spin = config.idle_spin,
                         .on_fork = config.on_fork,
                         .on_deadlock = config.on_deadlock};
    settings.copy_after_fork(options);
    return options;
}

std::shared_ptr<detail::pool> detail::pool::make_anew() const {
    auto fresh = std::make_shared<pool>(owner_, settings_after_fork(), config.queue_first, config.clock);
    if (!accepts_tasks(control.load().state)) {
        fresh->control.advance_to(run_state::terminated);
    }
    owner_.made_anew(fresh->backlog.queue(), fresh.get(), thread_pool_executor::way_back{fresh});
    return fresh;
}

detail::pool& thread_pool_executor::make_anew() const noexcept {
    if (lost_->config.on_fork == fork_policy::abort) {
        lost_->abort_in_child("it was used there");
    }
    try {
        fork_list::put_in_place(*this, lost_->make_anew());
    } catch (...) {
        lost_->abort_in_child("it could not be made anew (" + spool::describe(std::current_exception()) +
                              ")");
    }
    return *here_.load();
}

}  // namespace spool::inline v1
