// memory_store: the jobs of a memory_broker and the orders in which they are looked up. The caller
// holds the broker's lock.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "protocol.hpp"
#include "spool/detail/mutex.hpp"
#include "spool/remote/broker.hpp"

namespace spool::inline v1::remote::detail {

using spool::detail::lock_guard;
using spool::detail::mutex;

enum class record_parts { none, result, all };

struct memory_job {
    new_job given;
    job_row row;
    std::uint64_t number = 0;  // order of arrival
    std::int64_t created_at = 0;

    [[nodiscard]] job_record record(record_parts parts) const;
    [[nodiscard]] leased_job leased() const;
};

struct memory_queue {
    using order = std::tuple<int, std::int64_t, std::uint64_t>;  // -priority, run_at, number

    queue_settings settings;
    token_bucket bucket;
    std::map<order, memory_job*> ready;
    std::map<std::uint64_t, memory_job*> unstarted;  // delayed and queued, by age
    std::map<std::string, memory_job*> keys;         // of unfinished jobs
    std::uint64_t counts[7] = {};                    // by state
};

/// What a subscription has not read yet.
struct memory_inbox {
    explicit memory_inbox(subscription_topics t) : topics(std::move(t)) {}
    void wake() noexcept {
        is_ready = true;
        changed.notify_all();
    }
    const subscription_topics topics;
    wake_up news;
    bool is_ready = false;
    std::condition_variable_any changed;
};

class memory_store {
public:
    std::vector<memory_inbox*> inboxes;
    std::map<std::string, worker_record> workers;

    put_result add(const new_job& given, const put_limits& limits, std::int64_t now);
    taken_jobs take(const take_request& request, std::int64_t now);
    std::size_t expire_leases(std::int64_t now, std::size_t limit);
    void release_delayed(std::int64_t now);
    std::size_t remove_outcomes(std::int64_t now, std::size_t limit);

    [[nodiscard]] memory_job* find(const job_id& id);
    [[nodiscard]] memory_queue& queue(const std::string& name) { return queues_[name]; }
    [[nodiscard]] bool has_free_key(const memory_job& job);
    [[nodiscard]] std::vector<job_record> look(const look_filter& filter) const;
    [[nodiscard]] std::vector<queue_record> queues() const;
    [[nodiscard]] std::vector<std::string> unserved(std::span<const std::string> names);

    /// Calls `f(job)` with the job outside of all orders, puts it back, and tells its readers.
    /// Returns `missing` if there is no such job.
    template <class Result, class F>
    Result change(const job_id& id, Result missing, F f) {
        memory_job* const job = find(id);
        return job == nullptr ? missing : change(*job, f);
    }
    template <class F>
    auto change(memory_job& job, F f) {
        const job_state before = job.row.state;
        unlink(job);
        const auto result = f(job);
        link(job);
        tell(job, before);
        return result;
    }

    void tell_worker(const memory_job& job);
    void tell_queue(const std::string& name);

private:
    [[nodiscard]] static memory_queue::order order_of(const memory_job& job) {
        return {-job.given.priority, job.row.run_at, job.number};
    }
    void link(memory_job& job);
    void unlink(memory_job& job);
    void tell(const memory_job& job, job_state before);
    void take_from(memory_queue& queue, std::size_t quota, const take_request& request, std::int64_t now,
                   taken_jobs& taken);

    std::uint64_t next_number_ = 0;
    std::unordered_map<job_id, memory_job> jobs_;
    std::map<std::string, memory_queue> queues_;
    std::set<std::pair<std::int64_t, memory_job*>> delayed_;   // by run_at
    std::set<std::pair<std::int64_t, memory_job*>> leases_;    // by lease_until
    std::set<std::pair<std::int64_t, memory_job*>> finished_;  // by the end of keep
};

}  // namespace spool::inline v1::remote::detail
