#include "pool/pool_config.hpp"

#include <new>

#include "pool/worker_wait_context.hpp"

namespace spool::inline v1 {

pool_config::pool_config(const void* pool, pool_options& options, bool queue_comes_first,
                         std::shared_ptr<clock_source> due_clock)
    : owner(pool),
      name(std::move(options.name)),
      label("thread_pool_executor \"" + name + "\""),
      pool_info{name, 0, name},
      hooks(std::move(options.hooks)),
      decorate(std::move(options.decorate)),
      uncaught(std::move(options.uncaught)),
      clock(std::move(due_clock)),
      idle_spin(options.idle_spin),
      on_fork(options.on_fork),
      on_deadlock(std::move(options.on_deadlock)),
      task_times(options.task_times),
      queue_first(queue_comes_first) {}

void pool_config::report(const std::exception_ptr& error) const noexcept {
    const worker* const self = worker_wait_context::of(owner);
    if (self == nullptr) {
        uncaught(pool_info, error);
    } else {
        const task_id id = self->current.load(std::memory_order_relaxed);  // relaxed, owner
        uncaught(task_info{.id = id, .worker = &self->info}, error);
    }
}

void pool_config::report_queue_failure() const noexcept {
    try {
        throw;
    } catch (const std::bad_alloc&) {
    } catch (...) {
        report(std::current_exception());
    }
}

}  // namespace spool::inline v1
