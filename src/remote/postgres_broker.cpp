#include "postgres_broker.hpp"

#include <algorithm>
#include <thread>

namespace spool::inline v1::remote::detail {
namespace {

constexpr std::chrono::milliseconds reap_interval{250};

std::int32_t lock_key(const std::string& worker) {
    const job_id id = job_id::of(worker);
    std::uint32_t key = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        key = key << 8U | id.value()[i];
    }
    return static_cast<std::int32_t>(key);
}

// Notices a session that the server has ended: its socket then has something to read.
bool is_alive(pg_connection& connection) {
    return connection.is_usable() && PQconsumeInput(connection.get()) != 0 && connection.is_usable();
}

struct lease_arrays {
    std::vector<job_id> ids;
    std::vector<std::int64_t> fences;
    explicit lease_arrays(std::span<const lease> leases) {
        for (const lease& l : leases) {
            ids.push_back(l.id);
            fences.push_back(l.fence);
        }
    }
};

}  // namespace

std::unique_ptr<pg_connection> postgres_broker::open() const {
    auto connection = std::make_unique<pg_connection>(options_.connection, options_.call_timeout);
    check_version(*connection);
    return connection;
}

std::vector<put_result> postgres_broker::put(std::span<const new_job> jobs, const put_limits& limits) {
    if (jobs.empty()) {
        return {};
    }
    return with_connection([&](pg_connection& c) {
        if (limits.bound == 0) {
            return call_put(c, jobs);
        }
        // One transaction; the lock that make_room() takes lasts until it commits.
        std::vector<put_result> results;
        c.call("BEGIN");
        try {
            for (const new_job& job : jobs) {
                std::vector<job_id> id{job.id};
                const bool is_known = c.call("SELECT 1 FROM spool.job WHERE id = ANY ($1) OR (queue = $2 AND "
                                             "key = $3 AND state < 3)",
                                             pg_parameters{}.add(id).add(job.queue).add(job.key))
                                          .rows() != 0;
                const bool has_room =
                    is_known || c.call("SELECT spool.make_room($1, $2, $3)",
                                       pg_parameters{}
                                           .add(job.queue)
                                           .add(static_cast<std::int64_t>(limits.bound))
                                           .add(limits.when_full == full_queue::evict_oldest))
                                        .integer(0, 0) != 0;
                results.push_back(has_room ? call_put(c, {&job, 1}).front()
                                           : put_result{put_status::full, job.id});
            }
            c.call("COMMIT");
        } catch (const broker_error&) {
            if (c.is_usable()) {
                c.call("ROLLBACK");
            }
            throw;
        }
        return results;
    });
}

taken_jobs postgres_broker::take(const take_request& request) {
    bool reaps = false;
    {
        const lock_guard lock{mutex_};
        reaps = options_.session && next_reap_.expired();
        if (reaps) {
            next_reap_ = deadline::after(reap_interval);
        }
    }
    pg_parameters parameters;
    std::vector<std::string_view> queues;
    std::vector<std::int32_t> quotas;
    for (const queue_share& share : request.queues) {
        queues.push_back(share.queue);
        quotas.push_back(static_cast<std::int32_t>(share.quota));
    }
    parameters.add(request.worker).add(queues).add(quotas);
    parameters.add(std::vector<std::string_view>(request.functions.begin(), request.functions.end()));
    parameters.add(static_cast<std::int32_t>(std::min<std::size_t>(request.limit, INT32_MAX)));
    parameters.add(request.lease.count());
    return with_connection([&](pg_connection& c) {
        if (reaps) {
            c.call("SELECT spool.reap($1)", pg_parameters{}.add(request.worker));
        }
        const pg_result r = c.call("SELECT * FROM spool.take($1, $2, $3, $4, $5, $6)", parameters);
        taken_jobs taken;
        for (int i = 0; i < r.rows(); ++i) {
            if (r.is_null(i, 0)) {
                taken.next_in =
                    r.is_null(i, 1) ? duration::max() : duration{std::max<std::int64_t>(r.integer(i, 1), 0)};
                continue;
            }
            taken.jobs.push_back({r.id(i, 0), r.integer(i, 1), r.text(i, 2), r.text(i, 3),
                                  static_cast<std::uint64_t>(r.integer(i, 4)), r.blob(i, 5),
                                  static_cast<int>(r.integer(i, 6)), static_cast<int>(r.integer(i, 7)),
                                  static_cast<int>(r.integer(i, 8)), static_cast<int>(r.integer(i, 9)),
                                  duration{r.integer(i, 10)}, duration{r.integer(i, 11)}});
        }
        return taken;
    });
}

std::vector<renew_status> postgres_broker::renew(std::span<const lease> leases, duration length) {
    if (leases.empty()) {
        return {};
    }
    restore_sessions();
    const lease_arrays arrays{leases};
    return with_connection([&](pg_connection& c) {
        const pg_result r = c.call("SELECT * FROM spool.renew($1, $2, $3)",
                                   pg_parameters{}.add(arrays.ids).add(arrays.fences).add(length.count()));
        std::vector<renew_status> results;
        for (int i = 0; i < r.rows(); ++i) {
            results.push_back(static_cast<renew_status>(r.integer(i, 0)));
        }
        return results;
    });
}

std::vector<finish_status> postgres_broker::finish(std::span<const job_outcome> outcomes) {
    if (outcomes.empty()) {
        return {};
    }
    return with_connection([&](pg_connection& c) { return call_finish(c, outcomes); });
}

std::size_t postgres_broker::hand_back(std::span<const lease> leases, duration delay) {
    const lease_arrays arrays{leases};
    return with_connection([&](pg_connection& c) {
        return static_cast<std::size_t>(
            c.call("SELECT spool.hand_back($1, $2, $3)",
                   pg_parameters{}.add(arrays.ids).add(arrays.fences).add(delay.count()))
                .integer(0, 0));
    });
}

cancel_status postgres_broker::cancel(const job_id& id) {
    return with_connection([&](pg_connection& c) {
        return static_cast<cancel_status>(
            c.call("SELECT spool.cancel($1)", pg_parameters{}.add(id)).integer(0, 0));
    });
}

bool postgres_broker::retry(const job_id& id) {
    return with_connection([&](pg_connection& c) {
        return c.call("SELECT spool.retry($1)", pg_parameters{}.add(id)).integer(0, 0) != 0;
    });
}

void postgres_broker::configure(const std::string& queue, const queue_settings& settings) {
    with_connection([&](pg_connection& c) {
        return c.call("SELECT spool.configure($1, $2, $3, $4)",
                      pg_parameters{}.add(queue).add(settings.paused).add(settings.rate).add(settings.burst));
    });
}

// The session comes first: a row whose lock is free means a lost worker.
void postgres_broker::enlist(const worker_record& worker) {
    const std::int32_t key = lock_key(worker.id);
    if (options_.session) {
        const lock_guard lock{mutex_};
        worker_session& session = sessions_[worker.id];
        session.worker = worker;
        if (session.connection == nullptr || !is_alive(*session.connection)) {
            // The old session ends before the new one asks for its lock.
            session.connection = nullptr;
            session.connection = open();
            session.connection->call("SELECT pg_advisory_lock($1, $2)",
                                     pg_parameters{}.add(worker_lock_class).add(key));
        }
    }
    pg_parameters parameters;
    parameters.add(worker.id).add(worker.name);
    parameters.add(std::vector<std::string_view>(worker.functions.begin(), worker.functions.end()));
    with_connection([&](pg_connection& c) {
        return options_.session
                   ? c.call("SELECT spool.enlist($1, $2, $3, $4)", pg_parameters{parameters}.add(key))
                   : c.call("SELECT spool.enlist($1, $2, $3, NULL)", parameters);
    });
}

void postgres_broker::restore_sessions() {
    std::vector<worker_record> lost;
    {
        const lock_guard lock{mutex_};
        for (const auto& [id, session] : sessions_) {
            if (session.connection == nullptr || !is_alive(*session.connection)) {
                lost.push_back(session.worker);
            }
        }
    }
    for (const worker_record& worker : lost) {
        enlist(worker);
    }
}

void postgres_broker::retire(const std::string& worker) {
    with_connection(
        [&](pg_connection& c) { return c.call("SELECT spool.retire($1)", pg_parameters{}.add(worker)); });
    const lock_guard lock{mutex_};
    sessions_.erase(worker);
}

std::size_t postgres_broker::tidy(std::size_t limit) {
    return with_connection([&](pg_connection& c) {
        return static_cast<std::size_t>(
            c.call("SELECT spool.tidy($1)",
                   pg_parameters{}.add(static_cast<std::int32_t>(std::min<std::size_t>(limit, 1'000'000))))
                .integer(0, 0));
    });
}

server_time postgres_broker::now() {
    return with_connection([&](pg_connection& c) {
        return server_time{duration{c.call("SELECT spool.now_us()").integer(0, 0)}};
    });
}

}  // namespace spool::inline v1::remote::detail
