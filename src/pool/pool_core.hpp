// thread_pool_executor::core: the pool behind the handle. Its members by file: submission.cpp
// (a task arrives), worker_start.cpp (a worker is started), worker_loop.cpp (it looks for tasks),
// worker_run.cpp (it runs them), worker_leave.cpp (it leaves), kept_tasks.cpp (refused tasks that a
// worker runs), lifecycle.cpp (the pool ends), settings.cpp, numbers.cpp, fork_list.cpp (forked
// children), lend.cpp (an extra thread), and hot_path.hpp, the fast paths.
//
// Locks: that of worker_roster, and settings_mutex_, which guards each check-then-set of the numeric
// settings. The pool holds neither while user code runs (hooks, handlers, factories, stop callbacks,
// moves and destructors of tasks), nor while it takes the other.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pool/backlog.hpp"
#include "pool/calls_under_way.hpp"
#include "pool/control_word.hpp"
#include "pool/pool_steps.hpp"
#include "pool/setting.hpp"
#include "pool/worker_roster.hpp"
#include "spool/detail/future_link.hpp"
#include "spool/detail/mutex.hpp"
#include "spool/detail/spinning.hpp"
#include "spool/pool/admission.hpp"
#include "spool/pool/thread_pool_executor.hpp"
#include "spool/sync/event_count.hpp"

namespace spool::inline v1 {

class thread_pool_executor::core : public std::enable_shared_from_this<core> {
public:
    core(thread_pool_executor& owner, pool_options&& options, bool queue_first,
         std::shared_ptr<clock_source> clock);
    core(const core&) = delete;
    core& operator=(const core&) = delete;
    ~core() = default;

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
    /// For task_group: runs a child that the group dequeued, as if the worker had. `w` is the
    /// calling thread's worker.
    void run_child(worker& w, task& child);
    /// How long a worker's join spins, in search of tasks to help with, before it sleeps.
    [[nodiscard]] std::chrono::nanoseconds patience_of_join() const noexcept;
    /// run_child() for a child that the group has claimed. The child's queue entry is then stale.
    void run_claimed_child(worker& w, future_link entry, task& child);
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
    void settle() { try_terminate(); }
    void report_queue_failure() const noexcept;
    /// For a task that runs again after an exception: reports it as if it had left the body of a
    /// task of this worker.
    void report(const std::exception_ptr& error) const noexcept;
    [[nodiscard]] bool terminates_on_uncaught() const noexcept { return uncaught_.terminates(); }

    // ---- settings.cpp
    void set_core_size(std::size_t n);
    void set_maximum_size(std::size_t n);
    void set_keep_alive(std::chrono::nanoseconds d);
    void allow_core_threads_to_time_out(bool allow);
    [[nodiscard]] rejection_policy rejection() const;
    void set_rejection(rejection_policy policy);
    [[nodiscard]] spool::thread_factory thread_factory() const;
    void set_thread_factory(spool::thread_factory factory);
    bool prestart_core_thread();
    std::size_t prestart_all_core_threads();

    // ---- numbers.cpp
    [[nodiscard]] pool_snapshot snapshot() const;
    [[nodiscard]] std::string describe() const;

    [[nodiscard]] pool_control control() const noexcept { return control_.load(); }
    [[nodiscard]] admission::sizes sizes() const noexcept {
        return {core_size_.load(), maximum_size_.load(), core_may_time_out_.load(), queue_first_};
    }
    [[nodiscard]] std::size_t core_size() const noexcept { return core_size_.load(); }
    [[nodiscard]] std::chrono::nanoseconds keep_alive() const noexcept {
        return std::chrono::nanoseconds{keep_alive_.load()};
    }
    [[nodiscard]] std::uint64_t rejected() const noexcept { return rejected_.load(); }
    [[nodiscard]] task_backlog& backlog() noexcept { return backlog_; }
    [[nodiscard]] const task_backlog& backlog() const noexcept { return backlog_; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] const task_decorator* decorator() const noexcept {
        return decorate_ ? &decorate_ : nullptr;
    }

    // ---- fork_list.cpp
    [[nodiscard]] fork_policy on_fork() const noexcept { return on_fork_; }
    [[nodiscard]] bool is_lost() const noexcept { return kept_ != nullptr; }
    void leave_to_parent(std::shared_ptr<core> self) noexcept;
    [[noreturn]] void abort_in_child(const std::string& why) const noexcept;
    [[nodiscard]] std::shared_ptr<core> make_anew() const;
    class self_service;

    // ---- deadlock_watch.cpp, deadlock_finder.cpp
    struct blocked_wait;
    class deadlock_watch;
    // ---- lend.cpp
    /// The time by the clock that the tasks' due times refer to.
    [[nodiscard]] due_time now() const noexcept { return clock_ ? clock_->now() : due_time::clock::now(); }
    [[nodiscard]] std::size_t growth_limit() const noexcept;
    [[nodiscard]] bool queue_has_due(task_id wanted) const noexcept;
    bool lend_thread(task_id wanted) noexcept;

private:
    // The steps that must agree with each other, and what they need of the pool, here and below.
    template <class Control, class Host>
    friend class pool_steps;
    using all_steps = pool_steps<control_word, core>;
    [[nodiscard]] all_steps steps() noexcept { return {control_, *this}; }
    using ticket = task_backlog::ticket;
    static ticket ticket_of(const task& work) { return task_backlog::ticket_of(work); }
    void settle_queue() const noexcept { backlog_.synchronize_with_producers(); }
    bool offer(task& work) { return backlog_.offer(work); }
    [[nodiscard]] bool queue_empty() const { return backlog_.is_empty(); }
    [[nodiscard]] bool queue_is_empty() const noexcept { return backlog_.is_surely_empty(); }
    [[nodiscard]] std::uint64_t settings_version() const noexcept { return settings_version_.load(); }
    void on_shutdown() { owner_.on_shutdown(); }
    void wake_consumers() noexcept { backlog_.wake_consumers(); }

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
    void note_stale_entry() noexcept;

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

    // ---- worker_run.cpp
    bool run(worker& w, task_scope& scope, task& work);
    bool run_quickly(worker& w, task_scope& scope, task& work);
    static void end_quickly(worker& w, task_scope& scope, task& work) noexcept;
    bool forgiven(const worker& w, const task_scope& scope, const std::exception_ptr& thrown) const;
    void run_inside(worker& w, task& work, std::exception_ptr* thrown = nullptr);
    void run_claimed(worker& w, future_link body, const std::stop_token& stop);
    void run_taken(worker& w, task& work, const std::stop_token& stop);
    [[nodiscard]] task_info info_of(const worker& w, const task& work) const;
    bool run_counted(worker& w, task_scope& scope, task& work, function_ref<void()> body, task_info& info,
                     std::exception_ptr* thrown = nullptr);
    bool run_hooked(worker& w, task_scope& scope, task& work, function_ref<void()> body, task_info& info,
                    std::exception_ptr* to_caller);
    std::exception_ptr call(const task_scope& scope, function_ref<void()> body) const;
    static void count_start(worker& w, std::uint32_t depth) noexcept;
    static void count_end(worker& w, std::uint32_t depth) noexcept;
    void stop_if_stopping(task_scope& scope) const;

    // ---- kept_tasks.cpp
    void keep(worker& w, task& work);
    bool take_kept(worker& w, task& next) noexcept;
    void run_kept(worker& w);

    // ---- worker_leave.cpp
    bool hands_over();
    void depart(worker& w);
    void tell_of_free_place() noexcept;
    void forget_closer(worker& w) noexcept;
    [[nodiscard]] std::atomic<std::size_t>& closers_like(const worker& w) noexcept {
        return w.leaving ? leaving_closers_ : closers_;
    }
    void back_off();
    void uncaught(const worker_info& where, const std::exception_ptr& error) const noexcept {
        uncaught_(where, error);
    }
    void uncaught(const task_info& task, const std::exception_ptr& error) const noexcept {
        uncaught_(task, error);
    }
    /// Calls user code that has no caller to throw to: what it throws goes to `uncaught`. Returns
    /// false if it threw. `where`: a worker_info, or the task_info of the task concerned.
    template <class Where, class F>
    bool guarded(const Where& where, F&& f) noexcept {
        try {
            f();
            return true;
        } catch (...) {
            uncaught(where, std::current_exception());
            return false;
        }
    }

    // ---- lifecycle.cpp
    void try_terminate();
    [[nodiscard]] bool is_abandoned() noexcept { return roster_.has_start_failed() && steps().is_stranded(); }
    void run_what_nobody_can(const std::stop_token& stop);
    bool pop_or_report(std::optional<task>& next, const worker_info& where, const wait_limits& limits,
                       function_ref<bool()> give_up);
    [[nodiscard]] bool tidies_here() const noexcept { return tidier_.load() == std::this_thread::get_id(); }
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

    // ---- settings.cpp
    void check_sizes(std::size_t least, std::size_t most) const;
    void check_keep_alive(std::chrono::nanoseconds d, bool core_may_time_out) const;
    void settings_changed() noexcept;

    thread_pool_executor& owner_;  // used only inside calls on it
    const std::string name_;
    const worker_info pool_info_{name_, 0, name_};  // for events that happen on no worker
    control_word control_;

    std::atomic<std::size_t> core_size_;
    std::atomic<std::size_t> maximum_size_;
    std::atomic<std::int64_t> keep_alive_;  // ns
    std::atomic<bool> core_may_time_out_;
    // Waiting workers and submitters compare the version with the one that they saw.
    std::atomic<std::uint64_t> settings_version_{0};
    mutable detail::mutex settings_mutex_;  // guards each check-then-set of the above
    setting<rejection_policy> rejection_;
    setting<spool::thread_factory> factory_;

    task_backlog backlog_;
    const std::shared_ptr<pool_hooks> hooks_;  // may be null
    const task_decorator decorate_;
    const uncaught_policy uncaught_;
    const bool task_times_;
    const bool lets_in_quickly_;  // see admit_quickly()
    const bool runs_quickly_;     // see run_quickly()
    const bool queue_first_;
    const std::shared_ptr<clock_source> clock_;  // for due times; null: the real clock
    const spool::idle_spin idle_spin_;
    const fork_policy on_fork_;
    const deadlock_policy on_deadlock_;
    const long born_in_;          // the id of the process that made the pool
    std::shared_ptr<core> kept_;  // itself, for good, in a forked child that has lost it
    lost_home lost_;
    // How long idle workers waited for their next task. On its own cache line: every task reads the
    // members above.
    alignas(cache_line) recent_waits dry_spells_;

    alignas(cache_line) worker_roster roster_{name_, control_};

    std::atomic<std::size_t> closers_{0};          // workers inside close(), exempt from its wait
    std::atomic<std::size_t> leaving_closers_{0};  // departing workers inside close(), likewise
    std::atomic<std::thread::id> tidier_{};        // the thread inside the terminated hook
    std::atomic<std::uint64_t> rejected_{0};       // statistic
    [[no_unique_address]] calls_under_way calls_;
    event_count changed_;  // notified when the pool has terminated, or a worker has left
};

}  // namespace spool::inline v1
