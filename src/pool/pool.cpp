#include "pool/pool.hpp"

#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <utility>

#include "base/fork_handlers.hpp"
#include "pool/worker/worker_wait_context.hpp"
#include "pool/worker_path.hpp"

namespace spool::inline v1 {
namespace {

task_backlog::timing timing_of(const pool_config& config) noexcept {
    return !config.task_times   ? task_backlog::timing::none
           : config.queue_first ? task_backlog::timing::tasks_without_due_time
                                : task_backlog::timing::all_tasks;
}

// The task that a thread factory gets to run. Keeps the pool and the worker alive while the thread
// works. If it is destroyed without having run, its destructor tells the pool.
class worker_body {
public:
    worker_body(std::shared_ptr<detail::pool> pool, std::shared_ptr<worker> self) noexcept
        : pool_(std::move(pool)), self_(std::move(self)) {}
    worker_body(worker_body&&) noexcept = default;
    worker_body& operator=(worker_body&&) = delete;
    ~worker_body() {
        if (pool_ != nullptr) {
            worker_path{*pool_}.body_dropped(*self_);
        }
    }
    void operator()() {
        const std::shared_ptr<detail::pool> pool = std::move(pool_);
        if (pool != nullptr) {  // null when a factory calls it a second time
            worker_path{*pool}.work(self_);
        }
    }

private:
    std::shared_ptr<detail::pool> pool_;
    std::shared_ptr<worker> self_;
};

}  // namespace

detail::pool::pool(thread_pool_executor& owner, pool_options&& options, bool queue_first,
                   std::shared_ptr<clock_source> clock)
    : config(this, options, queue_first, std::move(clock)),
      is_bare(config.is_bare()),
      settings(config.label, options, queue_first),
      backlog(std::move(options.queue), this, config.label, timing_of(config), queue_first),
      presence(std::make_shared<pool_presence>(*this, config.name, process_id())),
      idle_waits(config.idle_spin.is_low_latency() ? spin_budget : break_even),
      made_in(process_id()),
      handle(owner) {
    detect_whether_spinning_can_help();
    meter.set(settings);
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

worker_thread detail::pool::start_thread(const std::shared_ptr<worker>& w) {
    return settings.factory()(task{worker_body{shared_from_this(), w}}, w->info);
}

void detail::pool::on_shutdown() {
    pool_access::on_shutdown(handle);
}

// ---- pool_config

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

#if !defined(NDEBUG)

void calls_under_way::fail(const std::string& pool, std::size_t n) noexcept {
    std::fprintf(
        stderr,
        "spool: thread_pool_executor \"%s\" is destroyed while %zu call(s) of execute(), submit() or the "
        "like on other threads are under way. A task that destroys its pool must wait until the call "
        "that submitted it has returned.\n",
        pool.c_str(), n);
    std::abort();
}

#endif

}  // namespace spool::inline v1
