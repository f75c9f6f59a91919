// The handle: each member is a call on a part or a path of the pool.
#include "spool/pool/thread_pool_executor.hpp"

#include <utility>

#include "base/thread_sanitizer_active.hpp"
#include "pool/admission_path.hpp"
#include "pool/fork/fork_list.hpp"
#include "pool/fork/pool_fork.hpp"
#include "pool/lifecycle_path.hpp"
#include "pool/measure/pool_report.hpp"
#include "pool/pool.hpp"
#include "pool/settings_path.hpp"
#include "pool/worker_path.hpp"

namespace spool::inline v1 {
namespace {

// Tells ThreadSanitizer, where it watches, that another thread will have the task.
void hand_over(const task& work) noexcept {
    if (detail::is_thread_sanitizer_active()) [[unlikely]] {
        detail::hand_over_in_library(detail::sanitizer_key_of(work.id()));
    }
}

}  // namespace

thread_pool_executor::thread_pool_executor(pool_options options)
    : pool_(std::make_shared<detail::pool>(*this, std::move(options), false, nullptr)) {
    fork_list::add(*this);
}

thread_pool_executor::thread_pool_executor(pool_options options, queue_first how)
    : pool_(std::make_shared<detail::pool>(*this, std::move(options), true, std::move(how.clock))) {
    fork_list::add(*this);
}

thread_pool_executor::~thread_pool_executor() {
    if (!is_forked_child()) {
        lifecycle_path{use()}.destroy();
        use().presence->retire();
    }
    fork_list::remove(*this);
}

// ---- Submitting

void thread_pool_executor::execute(task work) {
    admission_path{use()}.execute(std::move(work));
}

void thread_pool_executor::execute_all(std::span<task> work) {
    detail::pool& pool = use();
    for (const task& one : work) {
        pool.backlog.require(one);
    }
    for (const task& one : work) {
        hand_over(one);
    }
    admission_path{pool}.execute_all(work);
}

admission_result thread_pool_executor::try_execute(task&& work) {
    detail::pool& pool = use();
    pool.backlog.require(work);
    hand_over(work);
    std::exception_ptr start_error;
    return admission_path{pool}.try_execute(work, start_error);
}

admission_result thread_pool_executor::execute_until(task&& work, deadline until, std::stop_token stop) {
    // Keeps the pool for a submitter that still waits when the handle is destroyed.
    const std::shared_ptr<detail::pool> keep = use().shared_from_this();
    keep->backlog.require(work);
    hand_over(work);
    return admission_path{*keep}.execute_until(work, until, stop);
}

const task_decorator* thread_pool_executor::decorator() const noexcept {
    const task_decorator& decorate = use().config.decorate;
    return decorate ? &decorate : nullptr;
}
std::string thread_pool_executor::executor_label() const {
    return (is_forked_child() ? *lost_ : use()).config.label;
}

// ---- For derived pools

void thread_pool_executor::on_shutdown() {}
// NOLINTNEXTLINE(performance-unnecessary-value-param): a derived pool keeps it
void thread_pool_executor::reinitialize_after_fork(blocking_queue<task>&, const void*, requeue_handle) const {
}
bool thread_pool_executor::is_forked_child() const noexcept {
    return here_.load() == nullptr;
}
void thread_pool_executor::try_terminate() {
    lifecycle_path{use()}.try_terminate();
}
const void* thread_pool_executor::home() const noexcept {
    return &use();
}

thread_pool_executor::requeue_handle thread_pool_executor::make_requeue_handle() const {
    return requeue_handle{use().weak_from_this()};
}
bool thread_pool_executor::requeue_handle::requeue(task& work, function_ref<bool(run_state)> may_run) const {
    const std::shared_ptr<detail::pool> pool = pool_.lock();
    return pool != nullptr && !is_abandoned(*pool) && admission_path{*pool}.requeue(work, may_run);
}
bool thread_pool_executor::requeue_handle::terminates_on_uncaught() const noexcept {
    const std::shared_ptr<detail::pool> pool = pool_.lock();
    return pool != nullptr && pool->config.uncaught.terminates();
}
void thread_pool_executor::requeue_handle::report(const std::exception_ptr& error) const noexcept {
    if (const std::shared_ptr<detail::pool> pool = pool_.lock()) {
        pool->config.report(error);
    }
}

// ---- Lifecycle. The terminated hook may destroy the handle, and another thread may do so as soon as
// the pool has terminated: so these calls keep the pool.

void thread_pool_executor::shutdown() {
    const std::shared_ptr<detail::pool> keep = use().shared_from_this();
    lifecycle_path{*keep}.shutdown();
}
std::vector<task> thread_pool_executor::shutdown_now() {
    const std::shared_ptr<detail::pool> keep = use().shared_from_this();
    return lifecycle_path{*keep}.shutdown_now();
}
bool thread_pool_executor::await_termination_until(deadline until, std::stop_token stop) {
    const std::shared_ptr<detail::pool> keep = use().shared_from_this();
    return lifecycle_path{*keep}.await_termination(until, stop);
}
void thread_pool_executor::close() {
    if (is_forked_child() && lost_->config.on_fork == fork_policy::abort) {
        return;  // in this process there is nothing to close
    }
    const std::shared_ptr<detail::pool> keep = use().shared_from_this();
    lifecycle_path{*keep}.close();
}
run_state thread_pool_executor::state() const noexcept {
    const detail::pool& pool = use();
    const run_state now = pool.control.load().state;
    detail::receive_in_library(&pool);
    return now;
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

// ---- Settings. All setters but the thread factory's are a change by settings_path.

settings_change thread_pool_executor::apply(const pool_settings& next, apply_mode mode) {
    return settings_path{use()}.apply(next, mode);
}
std::uint64_t thread_pool_executor::settings_version() const noexcept {
    return use().settings.version();
}

const std::string& thread_pool_executor::name() const noexcept {
    return (is_forked_child() ? *lost_ : use()).config.name;
}
std::size_t thread_pool_executor::core_size() const noexcept {
    return use().settings.core_size();
}
void thread_pool_executor::set_core_size(std::size_t n) {
    apply({.core_size = n});
}
std::size_t thread_pool_executor::maximum_size() const noexcept {
    return use().settings.maximum_size();
}
void thread_pool_executor::set_maximum_size(std::size_t n) {
    apply({.maximum_size = n});
}
std::chrono::nanoseconds thread_pool_executor::keep_alive() const noexcept {
    return use().settings.keep_alive();
}
void thread_pool_executor::set_keep_alive(duration_setting d) {
    apply({.keep_alive = d});
}
bool thread_pool_executor::core_threads_may_time_out() const noexcept {
    return use().settings.sizes().core_may_time_out;
}
void thread_pool_executor::allow_core_threads_to_time_out(bool allow) {
    apply({.core_threads_may_time_out = allow});
}
rejection_policy thread_pool_executor::rejection() const {
    return use().settings.rejection();
}
void thread_pool_executor::set_rejection(rejection_policy policy) {
    apply({.rejection = std::move(policy)});
}
spool::measuring thread_pool_executor::measuring() const noexcept {
    return use().settings.measure();
}
void thread_pool_executor::set_measuring(spool::measuring how) {
    apply({.measure = how});
}
spool::thread_factory thread_pool_executor::thread_factory() const {
    return use().settings.factory();
}
void thread_pool_executor::set_thread_factory(spool::thread_factory factory) {
    use().settings.set_factory(std::move(factory));
}
bool thread_pool_executor::prestart_core_thread() {
    return worker_path{use()}.prestart();
}
std::size_t thread_pool_executor::prestart_all_core_threads() {
    std::size_t started = 0;
    while (prestart_core_thread()) {
        ++started;
    }
    return started;
}

// ---- The queue

blocking_queue<task>& thread_pool_executor::queue() noexcept {
    return use().backlog.queue();
}
bool thread_pool_executor::contains(task_id id) const {
    return use().backlog.contains(id);
}
bool thread_pool_executor::remove(task_id id) {
    return admission_path{use()}.remove(id);
}
std::size_t thread_pool_executor::purge() {
    return admission_path{use()}.purge();
}

// ---- Numbers

std::size_t thread_pool_executor::pool_size() const noexcept {
    return use().control.load().workers;
}
std::size_t thread_pool_executor::active_count() const {
    return snapshot().active;
}
std::size_t thread_pool_executor::largest_pool_size() const {
    return snapshot().largest_pool_size;
}
std::uint64_t thread_pool_executor::task_count() const {
    return snapshot().tasks;
}
std::uint64_t thread_pool_executor::completed_task_count() const {
    return snapshot().completed;
}
std::uint64_t thread_pool_executor::rejected_count() const noexcept {
    return use().rejections.total();
}
pool_snapshot thread_pool_executor::snapshot() const {
    return snapshot_of(use());
}
pool_reading thread_pool_executor::read() const {
    return detail::reading_of(use());
}
std::vector<worker_reading> thread_pool_executor::workers() const {
    return detail::workers_of(use());
}
pool_handle thread_pool_executor::weak_handle() const {
    return pool_handle{use().presence};
}
std::string thread_pool_executor::describe() const {
    return detail::describe(use());
}

}  // namespace spool::inline v1
