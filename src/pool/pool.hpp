// detail::pool: the pool behind the handle, made of parts that own its state. Its members by file:
// submission.cpp (a task arrives), worker_start.cpp (a worker is started), worker_loop.cpp (it looks
// for tasks), worker_leave.cpp (it leaves), kept_tasks.cpp (refused tasks that a worker runs),
// lifecycle.cpp (the pool ends), settings.cpp, numbers.cpp, fork_list.cpp (forked children),
// lend.cpp (an extra thread), and hot_path.hpp, the fast paths. task_runner runs one task.
//
// Locks: those of worker_roster and current_settings. The pool holds neither while user code runs
// (hooks, handlers, factories, stop callbacks, moves and destructors of tasks), nor while it takes
// the other.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pool/backlog.hpp"
#include "pool/calls_under_way.hpp"
#include "pool/control_word.hpp"
#include "pool/current_settings.hpp"
#include "pool/pool_config.hpp"
#include "pool/pool_steps.hpp"
#include "pool/termination.hpp"
#include "pool/worker_roster.hpp"
#include "spool/detail/future_link.hpp"
#include "spool/detail/spinning.hpp"
#include "spool/pool/admission.hpp"
#include "spool/pool/thread_pool_executor.hpp"

namespace spool::inline v1 {

/// The number of rejected tasks.
class rejection_log {
public:
    void count() noexcept { rejected_.fetch_add(1); }
    [[nodiscard]] std::uint64_t total() const noexcept { return rejected_.load(); }

private:
    std::atomic<std::uint64_t> rejected_{0};  // statistic
};

namespace detail {

struct pool : std::enable_shared_from_this<pool> {
    pool(thread_pool_executor& owner, pool_options&& options, bool queue_first,
         std::shared_ptr<clock_source> clock);
    pool(const pool&) = delete;
    pool& operator=(const pool&) = delete;
    ~pool() = default;

    // ---- submission.cpp
    void require(const task& work) const {
        if (work.empty()) [[unlikely]] {
            throw_empty();
        }
    }
    [[noreturn]] void throw_empty() const;
    void execute(task&& work);
    void execute_all(std::span<task> work);
    admission_result let_in(task& work, std::exception_ptr& start_error);
    /// let_in() without the reason for a refusal.
    bool takes(task& work);
    /// `start_error` becomes what the factory threw, if that is the reason for a refusal.
    admission_result try_execute(task& work, std::exception_ptr& start_error);
    admission_result execute_until(task& work, deadline until, const std::stop_token& stop);
    /// For discard_oldest_policy: drops the head of the queue. Returns false if the queue is empty.
    bool evict_oldest();
    void refuse(task&& work, admission_result how, const std::exception_ptr& start_error);
    void reject(task&& work, rejection_reason reason);
    void count_rejection(const task& work, rejection_reason reason);
    [[nodiscard]] rejected_execution rejection_error(rejection_reason reason) const;
    /// How long a worker's join spins, in search of tasks to help with, before it sleeps.
    [[nodiscard]] std::chrono::nanoseconds patience_of_join() const noexcept;
    bool requeue(task& work, function_ref<bool(run_state)> may_run);
    bool remove(task_id id);
    std::size_t purge();

    // ---- kept_tasks.cpp
    /// For rejection policies on a worker of this pool: runs the task at once, as if dequeued, or
    /// keeps it for later. What the task throws goes to the caller or to `uncaught`. Returns false,
    /// and does nothing, on any other thread.
    enum class thrown_to { caller, uncaught };
    bool run_on_own_worker(task& work, thrown_to whom);
    void give_away_kept(worker& w) noexcept;

    // ---- worker_start.cpp
    using start_result = spool::start_result;
    using bound = start_bound;
    start_result start_worker(task* first, bound limit, std::exception_ptr& error);

    // ---- lifecycle.cpp
    void shutdown();
    std::vector<task> shutdown_now();
    bool await_termination(deadline until, const std::stop_token& stop);
    void close();
    void destroy();

    // ---- settings.cpp
    void set_core_size(std::size_t n);
    /// Wakes waiting workers and submitters, which compare the version of the settings.
    void settings_changed() noexcept;
    bool prestart_core_thread();
    std::size_t prestart_all_core_threads();

    // ---- numbers.cpp
    [[nodiscard]] pool_snapshot snapshot() const;
    [[nodiscard]] std::string describe() const;

    // ---- fork_list.cpp
    [[nodiscard]] bool is_lost() const noexcept { return kept_ != nullptr; }
    void leave_to_parent(std::shared_ptr<pool> self) noexcept;
    [[noreturn]] void abort_in_child(const std::string& why) const noexcept;
    [[nodiscard]] std::shared_ptr<pool> make_anew() const;

    // ---- lend.cpp
    [[nodiscard]] std::size_t growth_limit() const noexcept;
    [[nodiscard]] bool queue_has_due(task_id wanted) const noexcept;
    bool lend_thread(task_id wanted) noexcept;

    // The steps that must agree with each other, and what they need of the pool, here and below.
    using all_steps = pool_steps<control_word, pool>;
    [[nodiscard]] all_steps steps() noexcept { return {control, *this}; }
    using ticket = task_backlog::ticket;
    static ticket ticket_of(const task& work) { return task_backlog::ticket_of(work); }
    [[nodiscard]] admission::sizes sizes() const noexcept { return settings.sizes(); }
    [[nodiscard]] std::size_t core_size() const noexcept { return settings.core_size(); }
    void settle_queue() const noexcept { backlog.synchronize_with_producers(); }
    bool offer(task& work) { return backlog.offer(work); }
    [[nodiscard]] bool queue_empty() const { return backlog.is_empty(); }
    [[nodiscard]] bool queue_is_empty() const noexcept { return backlog.is_surely_empty(); }
    [[nodiscard]] std::uint64_t settings_version() const noexcept { return settings.version(); }
    void on_shutdown() { owner_.on_shutdown(); }
    void wake_consumers() noexcept { backlog.wake_consumers(); }

    class worker_body;

    // ---- submission.cpp
    struct way_in {  // the outcome of the fast path
        task_id id;
        quick_result how;
    };
    [[nodiscard]] calls_under_way::entry enter_call() noexcept;
    way_in admit_quickly(task& work);
    admission_result go_on(task& work, way_in way, std::exception_ptr& start_error);
    bool takes_at_length(task& work, way_in way);
    void execute_at_length(task& work, way_in way);
    admission_result admit(task& work, std::exception_ptr& start_error);
    std::size_t offer_some(std::span<task> work);
    admission_result recheck(task& work, const ticket& mine, std::exception_ptr& start_error);
    static ticket plain_ticket(task_id id) noexcept { return {id, 0}; }
    std::optional<task> take_back_if_possible(const ticket& wanted) noexcept;

    // ---- worker_start.cpp
    /// Precondition: the worker is counted in. The caller must count it out unless `started`.
    start_result launch(task* first, std::exception_ptr& error, std::optional<task_id> lent_for = {});
    start_result try_launch(task* first, std::exception_ptr& error, std::optional<task_id> lent_for);
    [[noreturn]] void rethrow_start_error(const std::exception_ptr& error) const;
    void try_for_the_stranded();
    void body_dropped(worker& w) noexcept;
    void admit_again(worker& w, task& first);

    // ---- worker_loop.cpp
    void work(const std::shared_ptr<worker>& self);
    bool attach(const worker& w);
    enum class served { and_on, leave, died, let_go };
    served serve(worker& w, task_scope& scope);
    served serve_first(worker& w, task_scope& scope, task& first);
    served serve_one(worker& w, task_scope& scope, task& next);
    bool claim_and_run(worker& w, task_scope& scope, task& next);
    served attend(worker& w, task_scope& scope, bool fine);
    served serve_lent(worker& w, task_scope& scope);  // lend.cpp
    bool try_claim(worker& w, task& next);
    bool fetch_quickly(task& next);
    bool fetch(task& next);
    class turn;
    struct dry_spell {  // one idle period of one worker, until its next task
        deadline::time_point since{};
        deadline::time_point idle_since{};  // when the current keep-alive period began
        bool idle = false;                  // a keep-alive period has begun
        bool needed = false;                // the worker timed out, but had to stay
    };
    [[nodiscard]] deadline patience(dry_spell& spell) const noexcept;
    [[nodiscard]] std::chrono::nanoseconds spin_time(dry_spell& spell) const noexcept;

    // ---- kept_tasks.cpp
    void keep(worker& w, task& work);
    bool take_kept(worker& w, task& next) noexcept;
    void run_kept(worker& w);

    // ---- worker_leave.cpp
    bool hands_over();
    void depart(worker& w);
    void tell_of_free_place() noexcept;
    void back_off();

    // ---- lifecycle.cpp
    void try_terminate();
    [[nodiscard]] bool is_abandoned() noexcept { return roster.has_start_failed() && steps().is_stranded(); }
    void run_what_nobody_can(const std::stop_token& stop);
    bool pop_or_report(std::optional<task>& next, const worker_info& where, const wait_limits& limits,
                       function_ref<bool()> give_up);
    void close_on_worker(worker& w);
    void run_first(worker& w);
    void run_the_rest(worker& w);
    void wait_for_the_end(const std::stop_token& stop);
    void discard_the_queue() noexcept;
    void let_go(worker& w);
    void wake_everybody() noexcept;

    // ---- numbers.cpp
    [[nodiscard]] pool_snapshot uncounted_snapshot() const;
    [[nodiscard]] std::string rejection_numbers() const;

    // ---- fork_list.cpp
    void end_in_child() const noexcept;
    [[nodiscard]] pool_options settings_after_fork() const;

    const pool_config config;
    // These three are in one cache line, which every task reads.
    alignas(cache_line) control_word control;
    const bool lets_in_quickly;  // see admit_quickly()
    const bool is_bare;          // see task_runner::run()
    current_settings settings;
    alignas(cache_line) task_backlog backlog;
    alignas(cache_line) worker_roster roster{config.name, control};
    pool_termination termination;
    rejection_log rejections;
    recent_waits idle_waits;  // how long idle workers waited for their next task
    [[no_unique_address]] calls_under_way calls;

private:
    thread_pool_executor& owner_;  // used only inside calls on it
    const long born_in_;           // the id of the process that made the pool
    std::shared_ptr<pool> kept_;   // itself, for good, in a forked child that has lost it
    lost_home lost_;
};

}  // namespace detail
}  // namespace spool::inline v1
