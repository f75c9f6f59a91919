#include "postgres_broker.hpp"

#include <algorithm>
#include <thread>

namespace spool::inline v1::remote::detail {
namespace {

constexpr std::size_t most_idle = 8;
constexpr std::chrono::milliseconds reap_interval{250};

std::int32_t lock_key(const std::string& worker) {
    const job_id id = job_id::of(worker);
    std::uint32_t key = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        key = key << 8U | id.value()[i];
    }
    return static_cast<std::int32_t>(key);
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

server_time to_time(std::int64_t microseconds) {
    return server_time{duration{microseconds}};
}

constexpr const char* record_columns =
    "id, queue, function, signature, coalesce(key, ''), state, priority, attempt, retries, crashes, fence, "
    "cancel_requested, worker, error_type, error_text, created_at, run_at, lease_until, finished_at";

job_record record_of(const pg_result& r, int row) {
    job_record job;
    job.id = r.id(row, 0);
    job.queue = r.text(row, 1);
    job.function = r.text(row, 2);
    job.signature = static_cast<std::uint64_t>(r.integer(row, 3));
    job.key = r.text(row, 4);
    job.state = static_cast<job_state>(r.integer(row, 5));
    job.priority = static_cast<int>(r.integer(row, 6));
    job.attempt = static_cast<int>(r.integer(row, 7));
    job.retries = static_cast<int>(r.integer(row, 8));
    job.crashes = static_cast<int>(r.integer(row, 9));
    job.fence = r.integer(row, 10);
    job.cancel_requested = r.integer(row, 11) != 0;
    job.worker = r.text(row, 12);
    job.error_type = r.text(row, 13);
    job.error_text = r.text(row, 14);
    job.created_at = to_time(r.integer(row, 15));
    job.run_at = to_time(r.integer(row, 16));
    job.lease_until = to_time(r.integer(row, 17));
    job.finished_at = to_time(r.integer(row, 18));
    job.args = r.blob(row, 19);
    job.result = r.blob(row, 20);
    return job;
}

}  // namespace

std::unique_ptr<pg_connection> postgres_broker::open() const {
    auto connection = std::make_unique<pg_connection>(options_.connection, options_.call_timeout);
    check_version(*connection);
    return connection;
}

template <class F>
auto postgres_broker::with_connection(F f) {
    for (int attempt = 0;; ++attempt) {
        std::unique_ptr<pg_connection> connection;
        bool is_used = false;
        {
            const lock_guard lock{mutex_};
            if (!idle_.empty()) {
                connection = std::move(idle_.back());
                idle_.pop_back();
                is_used = true;
            }
        }
        if (connection == nullptr) {
            connection = open();
        }
        const auto give_back = [&] {
            const lock_guard lock{mutex_};
            if (connection->is_usable() && idle_.size() < most_idle) {
                idle_.push_back(std::move(connection));
            }
        };
        try {
            auto result = f(*connection);
            give_back();
            return result;
        } catch (const broker_error& e) {
            const bool is_deadlock = connection->is_usable() && e.is_transient();
            // Every call is one transaction, and safe to repeat: the fence and the ids decide.
            const bool was_closed = !connection->is_usable() && is_used;
            give_back();
            if (attempt >= 4 || !(is_deadlock || was_closed)) {
                throw;
            }
            if (was_closed) {
                const lock_guard lock{mutex_};
                idle_.clear();  // a restart of the server has closed them all
            }
        }
    }
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

std::vector<job_record> postgres_broker::look(const look_filter& filter) {
    std::vector<std::int32_t> states;
    for (const job_state s : filter.states) {
        states.push_back(static_cast<std::int32_t>(s));
    }
    const std::string sql = std::string("SELECT ") + record_columns +
                            ", CASE WHEN $6 THEN args ELSE '' END, CASE WHEN $6 THEN coalesce(result, '') "
                            "ELSE '' END FROM spool.job "
                            "WHERE ($1 = '' OR queue = $1) AND ($2 = '' OR function = $2) AND "
                            "(cardinality($3) = 0 OR state = ANY ($3)) "
                            "AND (cardinality($4) = 0 OR id = ANY ($4)) ORDER BY number DESC LIMIT $5";
    return with_connection([&](pg_connection& c) {
        const pg_result r = c.call(
            sql.c_str(), pg_parameters{}
                             .add(filter.queue)
                             .add(filter.function)
                             .add(states)
                             .add(filter.ids)
                             .add(static_cast<std::int64_t>(std::min<std::size_t>(filter.limit, INT64_MAX)))
                             .add(filter.payloads));
        std::vector<job_record> records;
        for (int i = 0; i < r.rows(); ++i) {
            records.push_back(record_of(r, i));
        }
        return records;
    });
}

std::vector<job_record> postgres_broker::outcomes(std::span<const job_id> ids) {
    const std::string sql = std::string("SELECT ") + record_columns +
                            ", ''::bytea, coalesce(result, '') FROM spool.job WHERE id = ANY ($1)";
    const std::vector<job_id> wanted(ids.begin(), ids.end());
    return with_connection([&](pg_connection& c) {
        const pg_result r = c.call(sql.c_str(), pg_parameters{}.add(wanted));
        std::vector<job_record> records;
        for (int i = 0; i < r.rows(); ++i) {
            records.push_back(record_of(r, i));
        }
        return records;
    });
}

std::vector<queue_record> postgres_broker::queues() {
    return with_connection([&](pg_connection& c) {
        std::map<std::string, queue_record> all;
        const pg_result settings = c.call("SELECT name, paused, rate, burst FROM spool.queue");
        for (int i = 0; i < settings.rows(); ++i) {
            all[settings.text(i, 0)].settings = {settings.integer(i, 1) != 0, settings.real(i, 2),
                                                 settings.real(i, 3)};
        }
        const pg_result counts = c.call("SELECT queue, state, count(*) FROM spool.job GROUP BY queue, state");
        for (int i = 0; i < counts.rows(); ++i) {
            queue_record& r = all[counts.text(i, 0)];
            std::uint64_t* const places[] = {&r.delayed, &r.queued,    &r.running, &r.succeeded,
                                             &r.failed,  &r.cancelled, &r.dead};
            *places[std::clamp<std::int64_t>(counts.integer(i, 1), 0, 6)] =
                static_cast<std::uint64_t>(counts.integer(i, 2));
        }
        std::vector<queue_record> records;
        for (auto& [name, record] : all) {
            record.queue = name;
            records.push_back(std::move(record));
        }
        return records;
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
        std::unique_ptr<pg_connection>& session = sessions_[worker.id];
        if (session == nullptr || !session->is_usable()) {
            session = open();
            session->call("SELECT pg_advisory_lock($1, $2)", pg_parameters{}.add(worker_lock_class).add(key));
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

void postgres_broker::retire(const std::string& worker) {
    with_connection(
        [&](pg_connection& c) { return c.call("SELECT spool.retire($1)", pg_parameters{}.add(worker)); });
    const lock_guard lock{mutex_};
    sessions_.erase(worker);
}

std::vector<worker_record> postgres_broker::workers() {
    return with_connection([&](pg_connection& c) {
        const pg_result r = c.call("SELECT id, name, array_to_string(functions, E'\\n') FROM spool.worker");
        std::vector<worker_record> all;
        for (int i = 0; i < r.rows(); ++i) {
            worker_record worker{r.text(i, 0), r.text(i, 1), {}};
            std::string rest = r.text(i, 2);
            while (!rest.empty()) {
                const std::size_t end = std::min(rest.find('\n'), rest.size());
                worker.functions.push_back(rest.substr(0, end));
                rest.erase(0, end + 1);
            }
            all.push_back(std::move(worker));
        }
        return all;
    });
}

std::vector<std::string> postgres_broker::unserved(std::span<const std::string> queues) {
    const std::vector<std::string_view> names(queues.begin(), queues.end());
    return with_connection([&](pg_connection& c) {
        const pg_result r =
            c.call("SELECT DISTINCT n.function FROM unnest($1) AS q (name), LATERAL (SELECT j.function FROM "
                   "spool.job j "
                   "WHERE j.state = 1 AND j.queue = q.name ORDER BY j.priority DESC, j.run_at, j.number "
                   "LIMIT 1000) AS n "
                   "WHERE NOT EXISTS (SELECT 1 FROM spool.worker w WHERE n.function = ANY (w.functions))",
                   pg_parameters{}.add(names));
        std::vector<std::string> functions;
        for (int i = 0; i < r.rows(); ++i) {
            functions.push_back(r.text(i, 0));
        }
        return functions;
    });
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
    return with_connection(
        [&](pg_connection& c) { return to_time(c.call("SELECT spool.now_us()").integer(0, 0)); });
}

}  // namespace spool::inline v1::remote::detail
