// worker_roster: the workers of a pool. It owns the list of workers, the threads that are still to
// be joined, the counts that outlive a worker, and what is known about failed starts.
//
// R1  A worker is in the list from before the factory is called until retire(), release(),
//     strike_off() or drop().
// R2  A thread is joined once, and never by itself.
// R3  No user code runs under the lock: stop callbacks, moves and destructors of tasks and
//     exceptions.
//
// The thread of a new worker may begin, and even end, before the factory has returned its handle.
// So enlist() comes before the factory. keep_thread() stores the handle afterwards, or joins the
// thread if the worker has ended.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pool/control_word.hpp"
#include "pool/measure/kind_table.hpp"
#include "pool/worker/worker.hpp"
#include "spool/detail/mutex.hpp"
#include "spool/pool/pool_reading.hpp"
#include "spool/pool/pool_snapshot.hpp"

namespace spool::inline v1 {

class worker_roster {
public:
    using worker_list = std::list<std::shared_ptr<worker>>;

    /// Reads `control` under its lock. Both arguments must outlive the roster.
    worker_roster(const std::string& pool, const control_word& control) noexcept
        : pool_(pool), control_(control) {}
    worker_roster(const worker_roster&) = delete;
    worker_roster& operator=(const worker_roster&) = delete;
    /// Detaches the threads that nobody has joined. There are such threads only if a thread of the
    /// pool destroys the pool after it has left, in a thread_local destructor or the terminated
    /// hook.
    ~worker_roster();

    // ---- A worker is started

    /// Adds a worker, and moves from `*first` if it succeeds. Returns null if the pool has shut
    /// down since the worker was counted in.
    [[nodiscard]] std::shared_ptr<worker> enlist(task* first);
    /// Stores the thread in the worker. Returns false if no thread will run the body.
    [[nodiscard]] bool keep_thread(const std::shared_ptr<worker>& self, worker_thread&& thread);
    /// Gives the worker up and gives `*first` back. Returns false if the body runs after all.
    [[nodiscard]] bool strike_off(worker& w, task* first);
    /// The body begins. Returns false if the starter has given the worker up.
    [[nodiscard]] bool begin(worker& w, task_scope& scope);
    /// The factory destroyed the body without running it. Returns the first task of the worker, or
    /// nothing if the starter will see to it.
    [[nodiscard]] std::optional<task> drop(worker& w) noexcept;
    /// Notes the outcome of an attempt to start a thread.
    void record_start() noexcept;
    void record_start_failure(std::exception_ptr error) noexcept;
    /// No thread has started since the last failure.
    [[nodiscard]] bool has_start_failed() const noexcept { return start_failed_.load(); }
    [[nodiscard]] std::exception_ptr last_start_error() const;

    // ---- A worker leaves

    /// The worker, which calls this, ends. Returns the ended workers whose threads the caller must
    /// join(), once other threads may go on without it.
    [[nodiscard]] worker_list retire(worker& w) noexcept;
    /// The worker, which calls this, has destroyed the pool: detaches its thread.
    void release(worker& w) noexcept;
    static void join(worker_list& ended);
    /// Joins the threads of all ended workers. Does nothing on a thread that has left the pool
    /// itself.
    void join_ended();

    // ---- All workers

    /// Requests stop on the task of each worker. Precondition: the pool is stopping, so that no
    /// worker is added.
    void request_stops();
    /// Fills in what the workers know. Returns how many tasks they have ever begun.
    std::uint64_t count(pool_snapshot& s) const;
    /// Appends a line per worker. `with_times`: the workers know when their tasks began.
    void describe(std::string& text, bool with_times) const;
    /// Fills in what the workers have measured: `started`, times and histograms.
    void read(pool_reading& r) const;
    /// What each worker does.
    [[nodiscard]] std::vector<worker_reading> read_workers(bool with_times, const kind_table& kinds) const;

private:
    struct seen_task {
        std::chrono::nanoseconds age{0};
        bool exact = false;
        bool first_time = false;
    };
    [[nodiscard]] seen_task age_of_task(worker& w, std::chrono::steady_clock::time_point now,
                                        bool with_times) const SPOOL_REQUIRES(mutex_);
    void take_over(worker& w) noexcept SPOOL_REQUIRES(mutex_);
    void count_alive(worker& w) SPOOL_REQUIRES(mutex_);
    bool leave_to_others(const std::shared_ptr<worker>& w, worker_thread& thread) noexcept;
    void mark_left_here() const noexcept;
    [[nodiscard]] bool has_left_here() const noexcept;

    const std::string& pool_;
    const control_word& control_;
    const task_id serial_ = detail::next_task_id();  // never reused, unlike the pool's address

    mutable detail::mutex mutex_;  // also guards the fields of each worker that worker.hpp names
    worker_list workers_ SPOOL_GUARDED_BY(mutex_);
    // Ended workers. The next worker that leaves, or close(), joins their threads.
    worker_list ended_ SPOOL_GUARDED_BY(mutex_);
    std::size_t alive_ SPOOL_GUARDED_BY(mutex_) = 0;    // workers with a thread
    std::size_t largest_ SPOOL_GUARDED_BY(mutex_) = 0;  // the most workers at once
    std::size_t last_number_ SPOOL_GUARDED_BY(mutex_) = 0;
    // Tasks completed by workers that have left.
    std::uint64_t completed_by_ended_ SPOOL_GUARDED_BY(mutex_) = 0;
    left_workers left_ SPOOL_GUARDED_BY(mutex_);
    // What the last thread that did not start threw.
    std::exception_ptr start_error_ SPOOL_GUARDED_BY(mutex_);
    std::atomic<bool> start_failed_{false};
};

}  // namespace spool::inline v1
