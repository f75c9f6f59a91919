// worker_core: the loop that takes and finishes jobs, and the thread that keeps their leases.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "spool/detail/mutex.hpp"
#include "spool/remote/worker.hpp"
#include "weights.hpp"

namespace spool::inline v1::remote::detail {

using spool::detail::lock_guard;
using spool::detail::mutex;

/// Why a run was asked to stop; decides what its end means.
enum class stop_cause : std::uint8_t { none, cancelled, lost, time_limit, closing };

/// A job that this worker holds, from take() until its end was reported.
struct execution {
    leased_job job;
    spool::future<void> task;
    deadline time_limit = deadline::never();
    bool has_begun = false;
    bool has_ended = false;  // its outcome is in the outbox, or it has none
    bool stop_requested = false;
    bool is_finished_by_user = false;
    stop_cause cause = stop_cause::none;
};

/// Two threads:
///   The loop delivers outcomes, takes jobs, and waits for news.
///   The keeper renews leases and enforces time limits, so that a slow take loses no lease.
/// Invariants:
///   W1  An execution is in `held_` from the moment it is taken until its end is reported, refused
///       as
///       stale, or given up by close(). The keeper renews exactly those.
///   W2  No lock is held while the broker, the pool or a handler runs.
class worker_core : public std::enable_shared_from_this<worker_core> {
public:
    explicit worker_core(worker_options options);

    void add_handler(std::string_view name, std::uint64_t signature, std::string text, job_body body);
    void start();
    void run(std::stop_token stop);
    void close();
    [[nodiscard]] worker_counts counts();
    [[nodiscard]] const std::string& id() const noexcept { return id_; }
    /// The part of close() that does not wait.
    void request_close();

private:
    struct handler {
        std::uint64_t signature;
        std::string text;
        job_body body;
    };
    class job_run;

    void loop();
    bool loop_once(subscription& news);
    void enlist();
    [[nodiscard]] std::size_t room();
    duration take_jobs(std::size_t free);
    void start_job(leased_job job);
    void run_job(const std::shared_ptr<execution>& e);
    void call_handler(execution& e, job_outcome& outcome, std::stop_token stop);
    void ended(const std::shared_ptr<execution>& e, std::optional<job_outcome> outcome);
    void not_begun(const std::shared_ptr<execution>& e);
    void deliver_outcomes();
    std::vector<finish_status> finish_all(const std::vector<job_outcome>& outcomes);
    void request_stops(const std::vector<job_id>& ids);
    void stop_execution(const std::shared_ptr<execution>& e, stop_cause cause);
    [[nodiscard]] duration backoff_of(const leased_job& job) const;

    void keep();
    void renew_leases();
    void enforce_limits();
    void report_unserved();
    void interrupt();
    void complain(const std::string& what) noexcept;

    const worker_options options_;
    const std::string name_;
    const std::string id_;  // the name and random digits: part of a file's name
    std::map<std::string, handler, std::less<>> handlers_;             // not changed after start()
    weights weights_;                                                  // loop only
    deadline next_report_ = deadline::after(std::chrono::seconds{0});  // keeper only
    std::vector<std::string> reported_;                                // keeper only
    std::thread loop_thread_;
    std::thread keeper_;

    mutex mutex_;
    std::condition_variable_any changed_;
    bool is_started_ SPOOL_GUARDED_BY(mutex_) = false;
    bool is_closing_ SPOOL_GUARDED_BY(mutex_) = false;
    bool loop_has_ended_ SPOOL_GUARDED_BY(mutex_) = false;
    std::map<job_id, std::shared_ptr<execution>> held_ SPOOL_GUARDED_BY(mutex_);
    std::vector<job_outcome> outbox_ SPOOL_GUARDED_BY(mutex_);
    std::vector<lease> to_hand_back_ SPOOL_GUARDED_BY(mutex_);
    std::shared_ptr<subscription> news_ SPOOL_GUARDED_BY(mutex_);
    worker_counts counts_ SPOOL_GUARDED_BY(mutex_);
    std::string last_complaint_ SPOOL_GUARDED_BY(mutex_);
    deadline give_up_at_ SPOOL_GUARDED_BY(mutex_) = deadline::never();
    deadline refused_until_ SPOOL_GUARDED_BY(mutex_) = deadline::after(std::chrono::seconds{0});
    mutex close_mutex_;  // held while the threads are joined
};

}  // namespace spool::inline v1::remote::detail
