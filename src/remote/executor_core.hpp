// executor_core: the futures that wait for outcomes, and the thread that delivers them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "spool/detail/mutex.hpp"
#include "spool/remote/executor.hpp"

namespace spool::inline v1::remote::detail {

using spool::detail::lock_guard;
using spool::detail::mutex;

/// The watcher thread waits for wake-ups of the broker, reads outcomes and completes futures. It
/// also sends cancellations and the ticks of periodic jobs. No lock is held while it calls the
/// broker or completes a future.
///
/// An entry leaves `entries_` exactly once: by the watcher (outcome), by done() (the user cancelled
/// the future), by submit() (the put failed) or by close(). That thread alone completes the future.
class executor_core : public std::enable_shared_from_this<executor_core> {
public:
    explicit executor_core(executor_options options);

    void start();
    /// Ends the watcher and cancels the pending futures locally.
    void close();

    [[nodiscard]] new_job prepare(const submit_options& how, std::string_view function,
                                  std::uint64_t signature, bytes args) const;
    std::vector<job_id> submit(std::vector<new_job> jobs, std::vector<executor_link::entry> entries);
    void find(const job_id& id, std::string_view function, std::uint64_t signature,
              executor_link::entry entry);
    void done(std::uint64_t number);
    bool cancel(const job_id& id);
    void shutdown();
    bool await_all_until(deadline until);
    [[nodiscard]] std::size_t pending_count();
    void add_periodic(std::chrono::nanoseconds every, const std::string& key, new_job job);
    [[nodiscard]] remote::broker& broker() const noexcept { return *options_.broker; }
    [[nodiscard]] std::uint64_t next_number() noexcept {
        // relaxed, statistic: numbers are distinct whatever the order
        return numbers_.fetch_add(1, std::memory_order_relaxed);
    }

private:
    struct waiting {
        job_id id;
        std::unique_ptr<pending_job> pending;
        std::string function;         // find() only: what the job must be
        std::uint64_t signature = 0;  // find() only
        bool is_put = false;          // the broker has acknowledged it: an unknown id means expired

        [[nodiscard]] bool is_mismatch(const job_record& job) const noexcept {
            return !function.empty() && (function != job.function || signature != job.signature);
        }
    };
    struct periodic {
        std::int64_t every;  // microseconds
        std::string key;
        new_job job;
        std::int64_t next_tick = -1;
        deadline wake = deadline::after(std::chrono::seconds{0});
    };

    void watch();
    void watch_once(subscription& news);
    void read(const std::vector<job_id>& ids);
    void deliver(const job_record& record);
    void report_expired(const job_id& id);
    void send_cancellations();
    void send_ticks();
    [[nodiscard]] std::vector<job_id> next_ids(std::size_t limit);
    enum class which_entries { all, mismatched };
    [[nodiscard]] std::vector<waiting> extract(const job_record& job, which_entries which);
    waiting extract_number(std::uint64_t number);
    void insert(std::uint64_t number, waiting entry);
    std::vector<put_result> put_patiently(std::span<const new_job> jobs);
    void settle_put(const new_job& job, std::uint64_t number, const put_result& result);
    void interrupt();
    void pause(std::chrono::milliseconds d);
    void refuse_if_shut_down();

    const executor_options options_;
    const std::string submitter_ = job_id::random().text();
    std::atomic<std::uint64_t> numbers_{1};
    std::thread watcher_;

    mutex mutex_;  // never held while user code or the broker runs
    std::condition_variable_any changed_;
    bool is_shut_down_ SPOOL_GUARDED_BY(mutex_) = false;
    bool is_closing_ SPOOL_GUARDED_BY(mutex_) = false;
    std::map<std::uint64_t, waiting> entries_ SPOOL_GUARDED_BY(mutex_);
    std::unordered_multimap<job_id, std::uint64_t> by_id_ SPOOL_GUARDED_BY(mutex_);
    std::vector<job_id> to_check_ SPOOL_GUARDED_BY(mutex_);
    std::vector<job_id> to_cancel_ SPOOL_GUARDED_BY(mutex_);
    std::vector<std::shared_ptr<periodic>> periodics_ SPOOL_GUARDED_BY(mutex_);
    std::shared_ptr<subscription> news_ SPOOL_GUARDED_BY(mutex_);
    std::uint64_t cursor_ = 0;                                       // watcher only: for next_ids()
    deadline next_poll_ = deadline::after(std::chrono::seconds{0});  // watcher only
};

/// What get() throws for a job that ended without a result.
[[nodiscard]] std::exception_ptr failure_of(const job_record& job, const std::string& executor);

}  // namespace spool::inline v1::remote::detail
