#include "spool/schedule/executors.hpp"

#include <stdexcept>

namespace spool::inline v1 {

scheduled_thread_pool_executor scheduled_thread_pool(std::size_t n, thread_factory factory) {
    return scheduled_thread_pool_executor{{.core_size = n, .thread_factory = std::move(factory)}};
}

unconfigurable_scheduler::unconfigurable_scheduler(std::unique_ptr<scheduled_thread_pool_executor> pool)
    : pool_(std::move(pool)) {
    if (pool_ == nullptr) {
        throw std::invalid_argument("unconfigurable: the scheduled pool is null");
    }
}
unconfigurable_scheduler::~unconfigurable_scheduler() = default;

void unconfigurable_scheduler::execute(task work) {
    pool_->execute(std::move(work));
}
void unconfigurable_scheduler::execute_all(std::span<task> work) {
    pool_->execute_all(work);
}
const task_decorator* unconfigurable_scheduler::decorator() const noexcept {
    return pool_->decorator();
}
void unconfigurable_scheduler::shutdown() {
    pool_->shutdown();
}
std::vector<task> unconfigurable_scheduler::shutdown_now() {
    return pool_->shutdown_now();
}
bool unconfigurable_scheduler::is_shutdown() const {
    return pool_->is_shutdown();
}
bool unconfigurable_scheduler::is_terminated() const {
    return pool_->is_terminated();
}
bool unconfigurable_scheduler::is_terminating() const {
    return pool_->is_terminating();
}
bool unconfigurable_scheduler::await_termination_until(deadline until, std::stop_token stop) {
    return pool_->await_termination_until(until, std::move(stop));
}
void unconfigurable_scheduler::close() {
    pool_->close();
}

unconfigurable_scheduler unconfigurable(std::unique_ptr<scheduled_thread_pool_executor> pool) {
    return unconfigurable_scheduler{std::move(pool)};
}

unconfigurable_scheduler single_thread_scheduled_executor(thread_factory factory) {
    return unconfigurable(std::make_unique<scheduled_thread_pool_executor>(
        scheduled_pool_options{.core_size = 1, .thread_factory = std::move(factory)}));
}

}  // namespace spool::inline v1
