// sqlite_broker: the broker over one SQLite file. The protocol is protocol.hpp's, applied to rows.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "protocol.hpp"
#include "spool/detail/mutex.hpp"
#include "spool/remote/broker.hpp"
#include "spool/remote/sqlite_broker.hpp"
#include "sqlite_db.hpp"
#include "worker_locks.hpp"

namespace spool::inline v1::remote::detail {

using spool::detail::lock_guard;
using spool::detail::mutex;

inline constexpr std::int64_t sqlite_schema_version = 1;

/// Creates the schema in an empty file, checks it otherwise, and settles the clock. Returns what to
/// add to the boot-time clock to get the broker's time, in microseconds.
std::int64_t prepare_schema(database& db, const sqlite_options& options);
/// The boot-time clock of this machine, in microseconds.
[[nodiscard]] std::int64_t boot_time();

class sqlite_broker final : public broker, public std::enable_shared_from_this<sqlite_broker> {
public:
    explicit sqlite_broker(sqlite_options options);

    std::string label() const override { return "sqlite broker \"" + options_.file + "\""; }
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
    std::vector<std::string> unserved(std::span<const std::string> queues) override;
    std::size_t tidy(std::size_t limit) override;
    server_time now() override { return server_time{duration{microseconds()}}; }
    std::unique_ptr<subscription> subscribe(subscription_topics topics) override;

    [[nodiscard]] const sqlite_options& options() const noexcept { return options_; }

private:
    struct stored_job {
        std::int64_t number = 0;
        bool has_key = false;
        job_row row;
    };

    [[nodiscard]] std::int64_t microseconds() const { return boot_time() + offset_; }
    put_result add(const new_job& job, const put_limits& limits, std::int64_t now) SPOOL_REQUIRES(mutex_);
    [[nodiscard]] bool make_room(const new_job& job, const put_limits& limits, std::int64_t now)
        SPOOL_REQUIRES(mutex_);
    [[nodiscard]] bool load(const job_id& id, stored_job& job) SPOOL_REQUIRES(mutex_);
    void store(const stored_job& job) SPOOL_REQUIRES(mutex_);
    [[nodiscard]] bool has_work(const take_request& request, std::int64_t now) SPOOL_REQUIRES(mutex_);
    std::size_t expire_leases(std::int64_t now, std::size_t limit) SPOOL_REQUIRES(mutex_);
    void expire_ids(const std::vector<job_id>& ids, std::int64_t now) SPOOL_REQUIRES(mutex_);
    void reap_dead_workers() SPOOL_REQUIRES(mutex_);
    void take_from(const queue_share& share, std::size_t quota, const take_request& request, std::int64_t now,
                   taken_jobs& taken) SPOOL_REQUIRES(mutex_);
    void note_next_delayed(const take_request& request, std::int64_t now, taken_jobs& taken)
        SPOOL_REQUIRES(mutex_);
    [[nodiscard]] std::int64_t tokens_of(const std::string& queue, std::int64_t now, taken_jobs& taken)
        SPOOL_REQUIRES(mutex_);

    const sqlite_options options_;
    mutex mutex_;
    database db_ SPOOL_GUARDED_BY(mutex_);
    const std::int64_t offset_;
    worker_locks locks_ SPOOL_GUARDED_BY(mutex_);
    deadline next_reap_ SPOOL_GUARDED_BY(mutex_) = deadline::after(std::chrono::seconds{0});
};

}  // namespace spool::inline v1::remote::detail
