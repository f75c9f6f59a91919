// broker: where jobs wait between a submitter and a worker. Implement it to bring your own engine;
// tests/remote/contract has the suite that every broker must pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "spool/base/deadline.hpp"
#include "spool/base/export.hpp"
#include "spool/remote/job.hpp"

namespace spool::inline v1::remote {

/// What a full queue does with a further job.
enum class full_queue {
    refuse,        ///< put() answers put_status::full
    evict_oldest,  ///< the oldest unstarted job ends as cancelled, with error_type evicted_type
};
struct put_limits {
    /// How many delayed and queued jobs a queue may hold; zero: any number.
    std::uint64_t bound = 0;
    full_queue when_full = full_queue::refuse;
};
enum class put_status {
    added,
    known,  ///< a job with this id, or an unfinished one with this key, exists already
    full,
};
struct put_result {
    put_status status = put_status::added;
    /// The job that exists now: for `known`, the one that had the key.
    job_id id;
};

struct queue_share {
    std::string queue;
    /// How many jobs to take from here before the others fill the rest.
    std::size_t quota = 1;
};
struct take_request {
    /// The id under which the worker enlisted.
    std::string worker;
    std::vector<queue_share> queues;
    /// Jobs of other functions stay queued.
    std::vector<std::string> functions;
    std::size_t limit = 1;
    duration lease = std::chrono::seconds{15};
};

struct taken_jobs {
    std::vector<leased_job> jobs;
    /// When a delayed job becomes ready or a rate lets the next one start; at most the caller's
    /// poll.
    duration next_in = duration::max();
};

enum class renew_status { renewed, stop_requested, lost };
enum class finish_status {
    finished,
    retrying,  ///< an error with tries left: the job is delayed again
    stale,     ///< the lease belongs to another worker, or the job is finished: nothing changed
};
enum class cancel_status { cancelled, stop_requested, already_finished, unknown };

struct look_filter {
    /// Empty: every queue.
    std::string queue = {};
    std::string function = {};
    std::vector<job_state> states = {};
    std::vector<job_id> ids = {};
    std::size_t limit = 100;
    /// Whether records include arguments and results.
    bool payloads = true;
};

struct queue_settings {
    bool paused = false;
    /// Jobs per second that may start; zero: any number.
    double rate = 0;
    /// How many may start at once after a quiet time, with a rate.
    double burst = 1;
};
struct queue_record {
    std::string queue;
    queue_settings settings;
    std::uint64_t delayed = 0, queued = 0, running = 0, succeeded = 0, failed = 0, cancelled = 0, dead = 0;
};
struct worker_record {
    /// Unique among all workers, for ever.
    std::string id;
    /// For people: host, process.
    std::string name;
    std::vector<std::string> functions;
};

/// What a subscription reports. It may report too much and, after a lost connection, too little:
/// every reader also polls.
struct wake_up {
    /// Something was put into a queue of the subscription.
    bool work = false;
    /// The engine cannot say which jobs finished: look at all of them.
    bool check_all = false;
    std::vector<job_id> finished;
    /// Running jobs of the worker whose stop was requested.
    std::vector<job_id> stop_requested;
};
struct subscription_topics {
    std::vector<std::string> queues = {};
    std::string submitter = {};
    std::string worker = {};
};

/// Wakes one thread when something happens. wait_until() belongs to one thread; any thread may call
/// interrupt().
class SPOOL_API subscription {
public:
    subscription() = default;
    subscription(const subscription&) = delete;
    subscription& operator=(const subscription&) = delete;
    virtual ~subscription();

    /// Waits until there is something to report, the deadline passes or interrupt() is called.
    /// \throws broker_error
    [[nodiscard]] virtual wake_up wait_until(deadline until) = 0;
    /// Ends the current wait, or the next one.
    virtual void interrupt() noexcept = 0;
};

/// Holds jobs, leases them to workers and keeps their outcomes.
///
/// The promises, which the contract suite checks:
///   B1  A job that put() acknowledged is finished exactly once, unless it is removed by its
///       `keep`.
///   B2  take() gives a job to one worker at a time. A later take of the same job has a greater
///       fence.
///   B3  renew(), finish() and hand_back() with a lease that is no longer current change nothing
///       and
///       say so. A lease stays current until another thread expires it: being late is no loss.
///   B4  Errors and lost leases are counted apart. `retries` limits errors, `crash_limit` lost
///       leases.
///   B5  put() with a known id changes nothing. At most one unfinished job of a queue has a key.
///   B6  Ready jobs of a queue come in the order of priority, then time, then arrival.
///   B7  Times are those of the engine. A jump of a caller's clock changes nothing.
///   B8  A call that throws broker_error has happened completely or not at all.
///
/// Thread safety: any thread may call every member.
class SPOOL_API broker {
public:
    broker() = default;
    broker(const broker&) = delete;
    broker& operator=(const broker&) = delete;
    virtual ~broker();

    /// For messages: kind and place, never a password.
    [[nodiscard]] virtual std::string label() const = 0;

    /// Adds jobs, all or none of them if it throws. The results are in the order of the jobs.
    virtual std::vector<put_result> put(std::span<const new_job> jobs, const put_limits& limits) = 0;
    /// Leases up to `limit` ready jobs; first expires lost leases and releases delayed jobs.
    [[nodiscard]] virtual taken_jobs take(const take_request& request) = 0;
    virtual std::vector<renew_status> renew(std::span<const lease> leases, duration length) = 0;
    virtual std::vector<finish_status> finish(std::span<const job_outcome> outcomes) = 0;
    /// Returns unstarted jobs; counts neither an error nor a crash. Answers how many it returned.
    virtual std::size_t hand_back(std::span<const lease> leases, duration delay) = 0;
    virtual cancel_status cancel(const job_id& id) = 0;
    /// Queues a failed, dead or cancelled job again, as new. False: it is not in such a state, or
    /// another unfinished job has its key.
    virtual bool retry(const job_id& id) = 0;

    /// Records that match, newest first.
    [[nodiscard]] virtual std::vector<job_record> look(const look_filter& filter) = 0;
    /// What the broker knows of these jobs: without arguments, in any order, unknown ids left out.
    [[nodiscard]] virtual std::vector<job_record> outcomes(std::span<const job_id> ids) = 0;
    /// Counts by state. It visits every job: for people, not for loops.
    [[nodiscard]] virtual std::vector<queue_record> queues() = 0;
    virtual void configure(const std::string& queue, const queue_settings& settings) = 0;

    /// Announces a worker. A broker that can tell that a worker's process is gone expires its
    /// leases at once.
    virtual void enlist(const worker_record& worker) = 0;
    virtual void retire(const std::string& worker) = 0;
    [[nodiscard]] virtual std::vector<worker_record> workers() = 0;
    /// Functions among the next queued jobs of these queues that no enlisted worker has.
    [[nodiscard]] virtual std::vector<std::string> unserved(std::span<const std::string> queues) = 0;

    /// Expires lost leases and removes outcomes that nobody keeps any more, at most `limit` of
    /// each. Answers how many jobs it changed or removed.
    virtual std::size_t tidy(std::size_t limit) = 0;
    [[nodiscard]] virtual server_time now() = 0;
    [[nodiscard]] virtual std::unique_ptr<subscription> subscribe(subscription_topics topics) = 0;
};

}  // namespace spool::inline v1::remote
