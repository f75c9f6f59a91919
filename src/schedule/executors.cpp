#include "spool/schedule/executors.hpp"

namespace spool::inline v1 {

scheduled_thread_pool_executor scheduled_thread_pool(std::size_t n, thread_factory factory) {
    return scheduled_thread_pool_executor{{.core_size = n, .thread_factory = std::move(factory)}};
}

unconfigurable_scheduler::unconfigurable_scheduler(std::unique_ptr<scheduled_thread_pool_executor> pool)
    : unconfigurable_scheduler(pool.get(), std::move(pool)) {}

unconfigurable_scheduler::unconfigurable_scheduler(scheduled_thread_pool_executor* raw,
                                                   std::unique_ptr<scheduled_thread_pool_executor>&& pool)
    : unconfigurable_service(std::move(pool)), pool_(raw) {}

// The base closes the pool, and would otherwise wait for delayed tasks.
unconfigurable_scheduler::~unconfigurable_scheduler() {
    if (!pool_->is_forked_child()) {
        pool_->set_run_delayed_after_shutdown(false);
        pool_->set_run_periodic_after_shutdown(false);
    }
}

unconfigurable_scheduler single_thread_scheduled_executor(thread_factory factory) {
    return unconfigurable_scheduler{std::make_unique<fixed_scheduled_pool_executor>(1, std::move(factory))};
}

fixed_scheduled_pool_executor::fixed_scheduled_pool_executor(std::size_t n, spool::thread_factory factory)
    : scheduled_thread_pool_executor({.core_size = n, .thread_factory = std::move(factory)}) {}

single_scheduled_pool_executor::single_scheduled_pool_executor(thread_factory factory)
    : unconfigurable_scheduler(std::make_unique<fixed_scheduled_pool_executor>(1, std::move(factory))) {}

}  // namespace spool::inline v1
