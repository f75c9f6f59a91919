// Changing a pool while it runs. current_settings checks and sets; here the threads that must act on
// the change are woken or started.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/when_forking.hpp"
#include "pool/pool.hpp"

namespace spool::inline v1 {
namespace {

task_backlog::timing timing_of(const pool_config& config) noexcept {
    return !config.task_times   ? task_backlog::timing::none
           : config.queue_first ? task_backlog::timing::tasks_without_due_time
                                : task_backlog::timing::all_tasks;
}

}  // namespace

detail::pool::pool(thread_pool_executor& owner, pool_options&& options, bool queue_first,
                   std::shared_ptr<clock_source> clock)
    : config(this, options, queue_first, std::move(clock)),
      lets_in_quickly(!config.task_times && !queue_first),
      is_bare(config.is_bare()),
      settings(config.label, options, queue_first),
      backlog(std::move(options.queue), this, timing_of(config)),
      idle_waits(config.idle_spin.is_low_latency() ? spin_budget : break_even),
      owner_(owner),
      born_in_(process_id()) {
    learn_whether_spinning_can_help();
    const auto check = [this](bool holds, const char* what) {
        if (!holds) {
            throw std::invalid_argument(config.label + ": " + what);
        }
    };
    check(backlog.has_queue(), "the queue is null");
    check(static_cast<bool>(config.uncaught), "the handler of uncaught exceptions is empty");
    check(config.on_fork != fork_policy::empty || backlog.queue().fresh() != nullptr,
          "on_fork is empty, but the queue has no fresh(): a forked child could not make the pool anew");
}

void detail::pool::settings_changed() noexcept {
    backlog.wake_consumers();
    backlog.wake_producers();
}

// Raised: starts a worker per queued task, at most as many as the size has grown by. A worker that
// finds no task stays, as a core worker.
void detail::pool::set_core_size(std::size_t n) {
    const std::size_t before = settings.set_core_size(n);
    settings_changed();
    if (n <= before) {
        return;
    }
    std::exception_ptr error;
    for (std::size_t wanted = std::min(n - before, backlog.queue().size()); wanted > 0 && !backlog.is_empty();
         --wanted) {
        if (start_worker(nullptr, bound::core_size, error) != start_result::started) {
            try_for_the_stranded();
            break;
        }
    }
}

bool detail::pool::prestart_core_thread() {
    std::exception_ptr error;
    if (start_worker(nullptr, bound::core_size, error) == start_result::started) {
        return true;
    }
    try_for_the_stranded();
    return false;
}

std::size_t detail::pool::prestart_all_core_threads() {
    std::size_t started = 0;
    while (prestart_core_thread()) {
        ++started;
    }
    return started;
}

}  // namespace spool::inline v1
