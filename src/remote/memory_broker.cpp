#include "spool/remote/memory_broker.hpp"

#include "memory_store.hpp"

namespace spool::inline v1::remote {
namespace detail {
namespace {

/// Everything under one lock; a subscription has a flag and its lists there, too.
class memory_broker final : public broker, public std::enable_shared_from_this<memory_broker> {
public:
    explicit memory_broker(std::shared_ptr<clock_source> clock)
        : clock_(std::move(clock)),
          offset_(to_microseconds(clock_ != nullptr ? clock_->wall_now() : std::chrono::system_clock::now()) -
                  steady()) {}

    std::string label() const override { return "memory broker"; }
    std::vector<put_result> put(std::span<const new_job> jobs, const put_limits& limits) override;
    taken_jobs take(const take_request& request) override;
    std::vector<renew_status> renew(std::span<const lease> leases, duration length) override;
    std::vector<finish_status> finish(std::span<const job_outcome> outcomes) override;
    std::size_t hand_back(std::span<const lease> leases, duration delay) override;
    cancel_status cancel(const job_id& id) override;
    bool retry(const job_id& id) override;
    std::vector<job_record> look(const look_filter& filter) override;
    std::vector<job_record> outcomes(std::span<const job_id> ids) override;
    std::vector<queue_record> queues() override;
    void configure(const std::string& queue, const queue_settings& settings) override;
    void enlist(const worker_record& worker) override;
    void retire(const std::string& worker) override;
    std::vector<worker_record> workers() override;
    std::vector<std::string> unserved(std::span<const std::string> queues) override {
        const lock_guard lock{mutex_};
        return store_.unserved(queues);
    }
    std::size_t tidy(std::size_t limit) override;
    server_time now() override { return server_time{duration{microseconds()}}; }
    std::unique_ptr<subscription> subscribe(subscription_topics topics) override;

private:
    friend class memory_subscription;

    template <class TimePoint>
    [[nodiscard]] static std::int64_t to_microseconds(TimePoint t) {
        return std::chrono::floor<duration>(t.time_since_epoch()).count();
    }
    [[nodiscard]] std::int64_t steady() const {
        return clock_ != nullptr ? to_microseconds(clock_->now())
                                 : to_microseconds(std::chrono::steady_clock::now());
    }
    [[nodiscard]] std::int64_t microseconds() const { return steady() + offset_; }

    const std::shared_ptr<clock_source> clock_;
    // From the steady clock to the date, once: later jumps do not count.
    const std::int64_t offset_;
    mutex mutex_;
    memory_store store_ SPOOL_GUARDED_BY(mutex_);
};

class memory_subscription final : public subscription {
public:
    memory_subscription(std::shared_ptr<memory_broker> owner, subscription_topics topics)
        : owner_(std::move(owner)), inbox_(std::move(topics)) {
        const lock_guard lock{owner_->mutex_};
        owner_->store_.inboxes.push_back(&inbox_);
    }
    memory_subscription(const memory_subscription&) = delete;
    memory_subscription& operator=(const memory_subscription&) = delete;
    ~memory_subscription() override {
        const lock_guard lock{owner_->mutex_};
        std::erase(owner_->store_.inboxes, &inbox_);
    }

    wake_up wait_until(deadline until) override {
        const lock_guard lock{owner_->mutex_};
        while (!inbox_.is_ready && !until.expired()) {
            if (until.is_never()) {
                inbox_.changed.wait(owner_->mutex_);
            } else {
                inbox_.changed.wait_until(owner_->mutex_, until.when());
            }
        }
        inbox_.is_ready = false;
        return std::exchange(inbox_.news, {});
    }
    void interrupt() noexcept override {
        const lock_guard lock{owner_->mutex_};
        inbox_.wake();
    }

private:
    const std::shared_ptr<memory_broker> owner_;
    memory_inbox inbox_;  // guarded by owner_->mutex_
};

std::vector<put_result> memory_broker::put(std::span<const new_job> jobs, const put_limits& limits) {
    std::vector<put_result> results;
    results.reserve(jobs.size());
    const std::int64_t now = microseconds();
    const lock_guard lock{mutex_};
    for (const new_job& job : jobs) {
        results.push_back(store_.add(job, limits, now));
    }
    return results;
}

taken_jobs memory_broker::take(const take_request& request) {
    const std::int64_t now = microseconds();
    const lock_guard lock{mutex_};
    store_.expire_leases(now, SIZE_MAX);
    store_.release_delayed(now);
    return store_.take(request, now);
}

std::vector<renew_status> memory_broker::renew(std::span<const lease> leases, duration length) {
    std::vector<renew_status> results;
    const std::int64_t until = microseconds() + length.count();
    const lock_guard lock{mutex_};
    for (const lease& l : leases) {
        results.push_back(store_.change(l.id, renew_status::lost, [&](memory_job& job) {
            return detail::renew(job.row, l.fence, until);
        }));
    }
    return results;
}

std::vector<finish_status> memory_broker::finish(std::span<const job_outcome> outcomes) {
    std::vector<finish_status> results;
    const std::int64_t now = microseconds();
    const lock_guard lock{mutex_};
    for (const job_outcome& outcome : outcomes) {
        results.push_back(store_.change(outcome.lease.id, finish_status::stale, [&](memory_job& job) {
            return detail::finish(job.row, outcome, now);
        }));
    }
    return results;
}

std::size_t memory_broker::hand_back(std::span<const lease> leases, duration delay) {
    std::size_t count = 0;
    const std::int64_t now = microseconds();
    const lock_guard lock{mutex_};
    for (const lease& l : leases) {
        count += store_.change(l.id, false, [&](memory_job& job) {
            return detail::hand_back(job.row, l.fence, now + delay.count(), now);
        });
    }
    return count;
}

cancel_status memory_broker::cancel(const job_id& id) {
    const std::int64_t now = microseconds();
    const lock_guard lock{mutex_};
    return store_.change(id, cancel_status::unknown, [&](memory_job& job) {
        mutex_.assert_held();
        const cancel_status status = detail::cancel(job.row, now);
        if (status == cancel_status::stop_requested) {
            store_.tell_worker(job);
        }
        return status;
    });
}

bool memory_broker::retry(const job_id& id) {
    const std::int64_t now = microseconds();
    const lock_guard lock{mutex_};
    return store_.change(id, false, [&](memory_job& job) {
        mutex_.assert_held();
        return store_.has_free_key(job) && detail::retry(job.row, now);
    });
}

std::vector<job_record> memory_broker::look(const look_filter& filter) {
    const lock_guard lock{mutex_};
    return store_.look(filter);
}

std::vector<job_record> memory_broker::outcomes(std::span<const job_id> ids) {
    std::vector<job_record> records;
    const lock_guard lock{mutex_};
    for (const job_id& id : ids) {
        if (const memory_job* job = store_.find(id); job != nullptr) {
            records.push_back(job->record(record_parts::result));
        }
    }
    return records;
}

std::vector<queue_record> memory_broker::queues() {
    const lock_guard lock{mutex_};
    return store_.queues();
}

void memory_broker::configure(const std::string& queue, const queue_settings& settings) {
    const std::int64_t now = microseconds();
    const lock_guard lock{mutex_};
    memory_queue& q = store_.queue(queue);
    q.settings = settings;
    q.bucket = {settings.burst, now};
    store_.tell_queue(queue);
}

void memory_broker::enlist(const worker_record& worker) {
    const lock_guard lock{mutex_};
    store_.workers.insert_or_assign(worker.id, worker);
}

void memory_broker::retire(const std::string& worker) {
    const lock_guard lock{mutex_};
    store_.workers.erase(worker);
}

std::vector<worker_record> memory_broker::workers() {
    std::vector<worker_record> all;
    const lock_guard lock{mutex_};
    for (const auto& [id, worker] : store_.workers) {
        all.push_back(worker);
    }
    return all;
}

std::size_t memory_broker::tidy(std::size_t limit) {
    const std::int64_t now = microseconds();
    const lock_guard lock{mutex_};
    return store_.expire_leases(now, limit) + store_.remove_outcomes(now, limit);
}

std::unique_ptr<subscription> memory_broker::subscribe(subscription_topics topics) {
    return std::make_unique<memory_subscription>(shared_from_this(), std::move(topics));
}

}  // namespace
}  // namespace detail

std::shared_ptr<broker> memory(std::shared_ptr<clock_source> clock) {
    return std::make_shared<detail::memory_broker>(std::move(clock));
}

}  // namespace spool::inline v1::remote
