// How postgres_broker shows jobs, queues and workers.
#include <algorithm>

#include "postgres_broker.hpp"

namespace spool::inline v1::remote::detail {
namespace {

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

}  // namespace spool::inline v1::remote::detail
