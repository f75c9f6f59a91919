#include "spool/schedule/scheduled_thread_pool_executor.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "schedule/schedule_link.hpp"
#include "schedule/timer_queue.hpp"
#include "spool/base/error.hpp"

namespace spool::inline v1 {

namespace {

using detail::at_shutdown;

std::unique_ptr<detail::timer_queue> queue_for(const scheduled_pool_options& options) {
    auto queue = std::make_unique<detail::timer_queue>(options.clock);
    queue->set_remove_on_cancel(options.remove_on_cancel);
    return queue;
}

// Moves the settings that every pool has out of the options; the rest stays.
pool_options to_pool_options(scheduled_pool_options& from, std::unique_ptr<blocking_queue<task>> queue) {
    return {.name = std::move(from.name),
            .core_size = from.core_size,
            .maximum_size = std::max<std::size_t>(from.core_size, largest_pool),
            .keep_alive = from.keep_alive,
            .core_threads_may_time_out = from.core_threads_may_time_out,
            .queue = std::move(queue),
            .thread_factory = std::move(from.thread_factory),
            .rejection = std::move(from.rejection),
            .hooks = std::move(from.hooks),
            .decorate = std::move(from.decorate),
            .uncaught = std::move(from.uncaught),
            .task_times = from.task_times,
            .measure = from.measure,
            .on_fork = from.on_fork,
            .on_deadlock = std::move(from.on_deadlock)};
}

at_shutdown kept_if(bool run) noexcept {
    return run ? at_shutdown::keep : at_shutdown::cancel;
}

// Destroys the tasks, and with each its right to run. The futures become cancelled, and this thread
// calls their callbacks.
void cancel_all(detail::timer_ref doomed) noexcept {
    while (doomed) {
        const detail::timer_ref next = doomed.after();
        static_cast<void>(doomed.take_task());
        doomed = next;
    }
}

}  // namespace

// The link of this pool. set() is separate: the requeue handle exists only once the pool does.
class scheduled_thread_pool_executor::link_to_pool final : public detail::schedule_link {
public:
    using schedule_link::schedule_link;
    void set(requeue_handle way) { way_.emplace(std::move(way)); }

    bool requeue(task& work) const override {
        return way_->requeue(work, [this](run_state now) { return may_run_periodic(now); });
    }
    void report(const std::exception_ptr& error) const noexcept override { way_->report(error); }
    bool terminates_on_uncaught() const noexcept override { return way_->terminates_on_uncaught(); }

private:
    std::optional<requeue_handle> way_;
};

scheduled_thread_pool_executor::scheduled_thread_pool_executor(scheduled_pool_options options)
    : thread_pool_executor(to_pool_options(options, queue_for(options)), queue_first{options.clock}) {
    timers().set_home(home());
    const auto link =
        std::make_shared<link_to_pool>(options.clock, kept_if(options.run_delayed_after_shutdown),
                                       kept_if(options.run_periodic_after_shutdown));
    link->set(make_requeue_handle());
    timers().set_link(link);
}

void scheduled_thread_pool_executor::reinitialize_after_fork(blocking_queue<task>& queue, const void* home,
                                                             requeue_handle way) const {
    auto& timers = static_cast<detail::timer_queue&>(queue);
    const detail::schedule_link& before = *timers.link();
    auto link = std::make_shared<link_to_pool>(before.clock(), before.delayed.load(), before.periodic.load());
    link->set(std::move(way));
    timers.set_home(home);
    timers.set_link(std::move(link));
}

scheduled_thread_pool_executor::~scheduled_thread_pool_executor() {
    if (!is_forked_child()) {
        link()->being_destroyed.store(true);
        close();
    }
}

detail::timer_queue& scheduled_thread_pool_executor::timers() const noexcept {
    return static_cast<detail::timer_queue&>(const_cast<scheduled_thread_pool_executor*>(this)->queue());
}

const std::shared_ptr<detail::schedule_link>& scheduled_thread_pool_executor::link() const noexcept {
    return timers().link();
}

std::string scheduled_thread_pool_executor::executor_label() const {
    return "scheduled_thread_pool_executor \"" + name() + "\"";
}

void scheduled_thread_pool_executor::on_shutdown() {
    detail::schedule_link& now = *link();
    cancel_all(timers().close_down(now.for_delayed(), now.for_periodic()));
}

bool scheduled_thread_pool_executor::run_delayed_after_shutdown() const noexcept {
    return link()->delayed.load() == at_shutdown::keep;
}
void scheduled_thread_pool_executor::set_run_delayed_after_shutdown(bool run) {
    link()->delayed.store(kept_if(run));
    if (!run && is_shutdown()) {
        shutdown();  // again: on_shutdown() now cancels the delayed tasks too
    }
}
bool scheduled_thread_pool_executor::run_periodic_after_shutdown() const noexcept {
    return link()->periodic.load() == at_shutdown::keep;
}
void scheduled_thread_pool_executor::set_run_periodic_after_shutdown(bool run) {
    link()->periodic.store(kept_if(run));
    if (!run && is_shutdown()) {
        shutdown();
    }
}
bool scheduled_thread_pool_executor::remove_on_cancel() const noexcept {
    return timers().remove_on_cancel();
}
void scheduled_thread_pool_executor::set_remove_on_cancel(bool remove) noexcept {
    timers().set_remove_on_cancel(remove);
}

due_time scheduled_thread_pool_executor::due_after(std::chrono::nanoseconds delay) const noexcept {
    return timers().after(delay);
}
due_time scheduled_thread_pool_executor::expected(std::chrono::system_clock::time_point wall) const noexcept {
    return timers().expected(wall);
}

void scheduled_thread_pool_executor::check_period(const char* call, std::chrono::nanoseconds period,
                                                  const periodic_options& options) const {
    const std::chrono::nanoseconds jitter = options.jitter;
    if (period > std::chrono::nanoseconds::zero() && jitter >= std::chrono::nanoseconds::zero()) {
        return;
    }
    throw std::invalid_argument(
        executor_label() + ": " + call + ": " +
        (jitter < std::chrono::nanoseconds::zero()
             ? "the jitter must not be negative (" + std::to_string(jitter.count())
             : "the period must be greater than zero (" + std::to_string(period.count())) +
        " ns)");
}

// Destroys the task, so that its future becomes cancelled.
bool scheduled_thread_pool_executor::take_back(detail::timer* waiting) {
    if (waiting == nullptr || detail::timer_queue::take(*waiting, home()).empty()) {
        return false;
    }
    try_terminate();
    return true;
}

}  // namespace spool::inline v1
