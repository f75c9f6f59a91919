#include "spool/pool/thread_pool_executor.hpp"

#include <utility>

#include "base/is_watched.hpp"
#include "pool/fork_list.hpp"
#include "pool/hot_path.hpp"
#include "pool/pool.hpp"

namespace spool::inline v1 {

thread_pool_executor::thread_pool_executor(pool_options options)
    : core_(std::make_shared<detail::pool>(*this, std::move(options), false, nullptr)) {
    fork_list::add(*this);
}

thread_pool_executor::thread_pool_executor(pool_options options, queue_first how)
    : core_(std::make_shared<detail::pool>(*this, std::move(options), true, std::move(how.clock))) {
    fork_list::add(*this);
}

thread_pool_executor::~thread_pool_executor() {
    if (!left_to_parent()) {
        use().destroy();
    }
    fork_list::remove(*this);
}

void thread_pool_executor::execute(task work) {
    use().execute(std::move(work));
}

void thread_pool_executor::execute_all(std::span<task> work) {
    for (const task& one : work) {
        use().require(one);
    }
    if (detail::is_watched()) [[unlikely]] {
        for (const task& one : work) {
            detail::hand_over_in_library(detail::sanitizer_key_of(one.id()));
        }
    }
    use().execute_all(work);
}

admission_result thread_pool_executor::try_execute(task&& work) {
    detail::pool& pool = use();
    pool.require(work);
    if (detail::is_watched()) [[unlikely]] {
        detail::hand_over_in_library(detail::sanitizer_key_of(work.id()));
    }
    std::exception_ptr start_error;
    return pool.let_in(work, start_error);
}

admission_result thread_pool_executor::execute_until(task&& work, deadline until, std::stop_token stop) {
    // Keeps the core for a submitter that still waits when the pool is destroyed.
    const std::shared_ptr<detail::pool> keep = use().shared_from_this();
    keep->require(work);
    detail::hand_over_in_library(detail::sanitizer_key_of(work.id()));
    return keep->execute_until(work, until, stop);
}

const task_decorator* thread_pool_executor::decorator() const noexcept {
    const task_decorator& decorate = use().config.decorate;
    return decorate ? &decorate : nullptr;
}

void thread_pool_executor::on_shutdown() {}
// NOLINTNEXTLINE(performance-unnecessary-value-param): a derived pool keeps it
void thread_pool_executor::made_anew(blocking_queue<task>&, const void*, way_back) const {}
bool thread_pool_executor::left_to_parent() const noexcept {
    return here_.load() == nullptr;
}

bool thread_pool_executor::way_back::requeue(task& work, function_ref<bool(run_state)> may_run) const {
    const std::shared_ptr<detail::pool> pool = pool_.lock();
    return pool != nullptr && !pool->is_lost() && pool->requeue(work, may_run);
}
bool thread_pool_executor::way_back::terminates_on_uncaught() const noexcept {
    const std::shared_ptr<detail::pool> pool = pool_.lock();
    return pool != nullptr && pool->config.uncaught.terminates();
}
void thread_pool_executor::way_back::report(const std::exception_ptr& error) const noexcept {
    if (const std::shared_ptr<detail::pool> pool = pool_.lock()) {
        pool->config.report(error);
    }
}
thread_pool_executor::way_back thread_pool_executor::way_back_here() const {
    return way_back{use().weak_from_this()};
}
void thread_pool_executor::settle() {
    use().try_terminate();
}
const void* thread_pool_executor::home() const noexcept {
    return &use();
}

void thread_pool_executor::shutdown() {
    // The terminated hook may destroy the pool.
    const std::shared_ptr<detail::pool> keep = use().shared_from_this();
    keep->shutdown();
}
std::vector<task> thread_pool_executor::shutdown_now() {
    const std::shared_ptr<detail::pool> keep = use().shared_from_this();  // as in shutdown()
    return keep->shutdown_now();
}
bool thread_pool_executor::is_shutdown() const {
    return !accepts_tasks(state());
}
bool thread_pool_executor::is_terminated() const {
    return state() == run_state::terminated;
}
bool thread_pool_executor::is_terminating() const {
    const run_state now = state();
    return !accepts_tasks(now) && now != run_state::terminated;
}
bool thread_pool_executor::await_termination_until(deadline until, std::stop_token stop) {
    // Another thread may destroy the pool as soon as it has terminated.
    const std::shared_ptr<detail::pool> keep = use().shared_from_this();
    return keep->await_termination(until, stop);
}
void thread_pool_executor::close() {
    if (left_to_parent() && lost_->config.on_fork == fork_policy::abort) {
        return;  // in this process there is nothing to close
    }
    const std::shared_ptr<detail::pool> keep = use().shared_from_this();  // as in shutdown()
    keep->close();
}
run_state thread_pool_executor::state() const noexcept {
    const detail::pool& pool = use();
    const run_state now = pool.control.load().state;
    detail::receive_in_library(&pool);
    return now;
}

const std::string& thread_pool_executor::name() const noexcept {
    return (left_to_parent() ? *lost_ : use()).config.name;
}
std::size_t detail::pool_size() const noexcept {
    return use().settings.core_size();
}
void thread_pool_executor::set_core_size(std::size_t n) {
    use().set_core_size(n);
}
std::size_t thread_pool_executor::maximum_size() const noexcept {
    return use().settings.maximum_size();
}
void thread_pool_executor::set_maximum_size(std::size_t n) {
    use().settings.set_maximum_size(n);
    use().settings_changed();
}
std::chrono::nanoseconds thread_pool_executor::keep_alive() const noexcept {
    return use().settings.keep_alive();
}
void thread_pool_executor::set_keep_alive(duration_setting d) {
    use().settings.set_keep_alive(d);
    use().settings_changed();
}
bool detail::pool_threads_may_time_out() const noexcept {
    return use().settings.sizes().core_may_time_out;
}
void thread_pool_executor::allow_core_threads_to_time_out(bool allow) {
    use().settings.set_core_may_time_out(allow);
    use().settings_changed();
}
rejection_policy thread_pool_executor::rejection() const {
    return use().settings.rejection();
}
void thread_pool_executor::set_rejection(rejection_policy policy) {
    use().settings.set_rejection(std::move(policy));
}
spool::thread_factory thread_pool_executor::thread_factory() const {
    return use().settings.factory();
}
void thread_pool_executor::set_thread_factory(spool::thread_factory factory) {
    use().settings.set_factory(std::move(factory));
}
bool thread_pool_executor::prestart_core_thread() {
    return use().prestart_core_thread();
}
std::size_t thread_pool_executor::prestart_all_core_threads() {
    return use().prestart_all_core_threads();
}

blocking_queue<task>& thread_pool_executor::queue() noexcept {
    return use().backlog.queue();
}
std::string thread_pool_executor::executor_label() const {
    return (left_to_parent() ? *lost_ : use()).config.label;
}

bool thread_pool_executor::contains(task_id id) const {
    return use().backlog.contains(id);
}

bool thread_pool_executor::remove(task_id id) {
    return use().remove(id);
}
std::size_t thread_pool_executor::purge() {
    return use().purge();
}

std::size_t thread_pool_executor::pool_size() const noexcept {
    return use().control.load().workers;
}
std::size_t thread_pool_executor::active_count() const {
    return use().snapshot().active;
}
std::size_t thread_pool_executor::largest_pool_size() const {
    return use().snapshot().largest_pool_size;
}
std::uint64_t thread_pool_executor::task_count() const {
    return use().snapshot().tasks;
}
std::uint64_t thread_pool_executor::completed_task_count() const {
    return use().snapshot().completed;
}
std::uint64_t thread_pool_executor::rejected_count() const noexcept {
    return use().rejections.total();
}
pool_snapshot thread_pool_executor::snapshot() const {
    return use().snapshot();
}
std::string thread_pool_executor::describe() const {
    return use().describe();
}

}  // namespace spool::inline v1
