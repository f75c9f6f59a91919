// The fork handlers need only the list itself, and fork() waits for its lock. They run no user code
// and allocate nothing.
#include "pool/fork/fork_list.hpp"

#include <utility>

#include "base/fork_handlers.hpp"
#include "pool/fork/pool_fork.hpp"
#include "pool/pool.hpp"
#include "pool/worker/worker_wait_context.hpp"
#include "spool/base/error.hpp"
#include "spool/detail/mutex.hpp"

namespace spool::inline v1 {
namespace {

constinit detail::mutex list_mutex;  // guards the list, and which pool a handle has
constinit thread_pool_executor* first SPOOL_GUARDED_BY(list_mutex) = nullptr;

}  // namespace

const bool thread_pool_executor::fork_list::watching =
    try_register_fork_handlers(before_fork, in_parent, in_child);

void thread_pool_executor::fork_list::add(thread_pool_executor& pool) {
    const detail::lock_guard lock{list_mutex};
    pool.here_.store(pool.pool_.get());
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
        pool.pool_.swap(fresh);  // it was empty
        // (F) release: hands the new pool over to use()
        pool.here_.store(pool.pool_.get(), std::memory_order_release);
    }
}

std::vector<pool_handle> thread_pool_executor::fork_list::handles() {
    std::vector<pool_handle> all;
    const detail::lock_guard lock{list_mutex};
    for (const thread_pool_executor* pool = first; pool != nullptr; pool = pool->next_) {
        if (pool->pool_ != nullptr) {
            all.emplace_back(pool->pool_->presence);
        }
    }
    return all;
}

std::vector<pool_handle> detail::pool_access::all() {
    return thread_pool_executor::fork_list::handles();
}

void thread_pool_executor::fork_list::before_fork() SPOOL_ACQUIRE(list_mutex) {
    list_mutex.lock();
}
void thread_pool_executor::fork_list::in_parent() SPOOL_RELEASE(list_mutex) {
    list_mutex.unlock();
}
void thread_pool_executor::fork_list::in_child() SPOOL_RELEASE(list_mutex) {
    after_fork_in_child();
    for (thread_pool_executor* pool = first; pool != nullptr; pool = pool->next_) {
        if (pool->pool_ != nullptr) {
            pool->lost_ = pool->pool_.get();
            pool->here_.store(nullptr);
            abandon_in_child(std::move(pool->pool_));
        }
    }
    detach_own_workers();
    list_mutex.unlock();
}

// The thread that forked may be a worker inside a task: all that it may still do is leave the task.
void thread_pool_executor::fork_list::detach_own_workers() noexcept {
    for (auto* w = dynamic_cast<worker_wait_context*>(nested_waiter::current()); w != nullptr;
         w = w->outer()) {
        w->detach();
    }
}

void thread_pool_executor::reinitialize() const noexcept {
    if (lost_->config.on_fork == fork_policy::abort) {
        abort_in_child(*lost_, "it was used there");
    }
    try {
        fork_list::put_in_place(*this, spool::reinitialize_after_fork(*lost_));
    } catch (...) {
        abort_in_child(*lost_,
                       "it could not be made anew (" + spool::describe(std::current_exception()) + ")");
    }
}

}  // namespace spool::inline v1
