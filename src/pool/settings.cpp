// Changing a pool while it runs. Each setter checks and sets. Setters of numbers and flags then
// wake the threads that may have to act on the change.
#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "base/when_forking.hpp"
#include "pool/pool_core.hpp"

namespace spool::inline v1 {
namespace {

std::string label(const std::string& name) {
    return "thread_pool_executor \"" + name + "\": ";
}

void check(bool holds, const std::string& name, const std::string& what) {
    if (!holds) {
        throw std::invalid_argument(label(name) + what);
    }
}

// For a count that was probably negative before it was converted.
std::string hint_at_sign(std::size_t n) {
    return n > std::numeric_limits<std::size_t>::max() / 2 ? "; a negative number?" : "";
}

}  // namespace

thread_pool_executor::core::core(thread_pool_executor& owner, pool_options&& options, bool queue_first,
                                 std::shared_ptr<clock_source> clock)
    : owner_(owner),
      name_(std::move(options.name)),
      core_size_(options.core_size),
      maximum_size_(options.maximum_size),
      keep_alive_(std::chrono::nanoseconds{options.keep_alive}.count()),
      core_may_time_out_(options.core_threads_may_time_out),
      rejection_(std::move(options.rejection)),
      factory_(std::move(options.thread_factory)),
      backlog_(std::move(options.queue), this,
               !options.task_times ? task_backlog::timing::none
               : queue_first       ? task_backlog::timing::tasks_without_due_time
                                   : task_backlog::timing::all_tasks),
      hooks_(std::move(options.hooks)),
      decorate_(std::move(options.decorate)),
      uncaught_(std::move(options.uncaught)),
      task_times_(options.task_times),
      lets_in_quickly_(!task_times_ && !queue_first),
      runs_quickly_(hooks_ == nullptr && !task_times_ && !uncaught_.terminates()),
      queue_first_(queue_first),
      clock_(std::move(clock)),
      idle_spin_(options.idle_spin),
      on_fork_(options.on_fork),
      on_deadlock_(std::move(options.on_deadlock)),
      born_in_(process_id()),
      dry_spells_(idle_spin_.is_low_latency() ? spin_budget : break_even) {
    learn_whether_spinning_can_help();
    check_sizes(options.core_size, options.maximum_size);
    check_keep_alive(options.keep_alive, options.core_threads_may_time_out);
    check(backlog_.has_queue(), name_, "the queue is null");
    check(static_cast<bool>(*factory_.get()), name_, "the thread factory is empty");
    check(static_cast<bool>(*rejection_.get()), name_, "the rejection policy is empty");
    check(static_cast<bool>(uncaught_), name_, "the handler of uncaught exceptions is empty");
    check(on_fork_ != fork_policy::empty || backlog_.queue().fresh() != nullptr, name_,
          "on_fork is empty, but the queue has no fresh(): a forked child could not make the pool anew");
}

void thread_pool_executor::core::check_sizes(std::size_t least, std::size_t most) const {
    const std::string both = "core_size " + std::to_string(least) + ", maximum_size " + std::to_string(most);
    const std::string limit = std::to_string(largest_pool);
    check(least <= largest_pool, name_,
          "core_size must not exceed " + limit + " (" + both + hint_at_sign(least) + ")");
    check(most <= largest_pool, name_,
          "maximum_size must not exceed " + limit + " (" + both + hint_at_sign(most) + ")");
    check(most > 0, name_, "maximum_size must not be 0 (" + both + ")");
    check(least <= most, name_, "maximum_size must not be less than core_size (" + both + ")");
}

void thread_pool_executor::core::check_keep_alive(std::chrono::nanoseconds d, bool core_may_time_out) const {
    const std::string value = std::to_string(d.count()) + " ns";
    check(d >= std::chrono::nanoseconds::zero(), name_, "keep_alive must not be negative (" + value + ")");
    check(d > std::chrono::nanoseconds::zero() || !core_may_time_out, name_,
          "keep_alive must not be zero while core threads may time out: they would come and go with every "
          "task");
}

// Waiting workers and submitters compare the version with the one they saw. pair (S): the version.
void thread_pool_executor::core::settings_changed() noexcept {
    settings_version_.fetch_add(1);
    backlog_.wake_consumers();
    backlog_.wake_producers();
}

void thread_pool_executor::core::set_core_size(std::size_t n) {
    std::size_t before = 0;
    {
        const detail::lock_guard lock{settings_mutex_};
        check_sizes(n, maximum_size_.load());
        before = core_size_.exchange(n);
    }
    settings_changed();
    if (n <= before) {
        return;
    }
    // Starts a worker per queued task, at most as many as the size has grown by. A worker that
    // finds no task stays, as a core worker.
    std::exception_ptr error;
    for (std::size_t wanted = std::min(n - before, backlog_.queue().size());
         wanted > 0 && !backlog_.is_empty(); --wanted) {
        if (start_worker(nullptr, bound::core_size, error) != start_result::started) {
            try_for_the_stranded();
            break;
        }
    }
}

void thread_pool_executor::core::set_maximum_size(std::size_t n) {
    {
        const detail::lock_guard lock{settings_mutex_};
        check_sizes(core_size_.load(), n);
        maximum_size_.store(n);
    }
    settings_changed();
}

void thread_pool_executor::core::set_keep_alive(std::chrono::nanoseconds d) {
    {
        const detail::lock_guard lock{settings_mutex_};
        check_keep_alive(d, core_may_time_out_.load());
        keep_alive_.store(d.count());
    }
    settings_changed();
}

void thread_pool_executor::core::allow_core_threads_to_time_out(bool allow) {
    {
        const detail::lock_guard lock{settings_mutex_};
        check_keep_alive(keep_alive(), allow);
        core_may_time_out_.store(allow);
    }
    settings_changed();
}

rejection_policy thread_pool_executor::core::rejection() const {
    return *rejection_.get();
}

void thread_pool_executor::core::set_rejection(rejection_policy policy) {
    check(static_cast<bool>(policy), name_, "the rejection policy is empty");
    rejection_.set(std::move(policy));
}

spool::thread_factory thread_pool_executor::core::thread_factory() const {
    return *factory_.get();
}

void thread_pool_executor::core::set_thread_factory(spool::thread_factory factory) {
    check(static_cast<bool>(factory), name_, "the thread factory is empty");
    factory_.set(std::move(factory));
}

bool thread_pool_executor::core::prestart_core_thread() {
    std::exception_ptr error;
    if (start_worker(nullptr, bound::core_size, error) == start_result::started) {
        return true;
    }
    try_for_the_stranded();
    return false;
}

std::size_t thread_pool_executor::core::prestart_all_core_threads() {
    std::size_t started = 0;
    while (prestart_core_thread()) {
        ++started;
    }
    return started;
}

}  // namespace spool::inline v1
