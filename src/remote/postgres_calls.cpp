// The calls of postgres_broker that also work in a transaction of the user's, and the schema.
#include <string>

#include "postgres_broker.hpp"
#include "postgres_migrations.hpp"
#include "spool/remote/worker.hpp"

namespace spool::inline v1::remote {
namespace detail {

void check_version(pg_connection& connection) {
    const std::int64_t version = connection.call("SELECT number FROM spool.version").integer(0, 0);
    if (version != postgres_schema_version) {
        throw broker_error(broker_failure::wrong_version,
                           "postgres broker: the schema has version " + std::to_string(version) +
                               ", this program has version " + std::to_string(postgres_schema_version) +
                               (version > postgres_schema_version ? "; update the program"
                                                                  : "; run `spool remote migrate`"));
    }
}

std::vector<put_result> call_put(pg_connection& connection, std::span<const new_job> jobs) {
    std::vector<job_id> ids;
    std::vector<std::string_view> queues, functions, keys, submitters;
    std::vector<std::int64_t> signatures, delays, starts, backoffs, time_limits, keeps;
    std::vector<std::span<const std::uint8_t>> args;
    std::vector<std::int32_t> priorities, retries, crash_limits;
    for (const new_job& job : jobs) {
        ids.push_back(job.id);
        queues.push_back(job.queue);
        functions.push_back(job.function);
        keys.push_back(job.key);
        submitters.push_back(job.submitter);
        signatures.push_back(static_cast<std::int64_t>(job.signature));
        args.push_back(job.args);
        priorities.push_back(job.priority);
        delays.push_back(job.delay.count());
        starts.push_back(job.at ? job.at->time_since_epoch().count() : -1);
        retries.push_back(job.retries);
        crash_limits.push_back(job.crash_limit);
        backoffs.push_back(job.backoff.count());
        time_limits.push_back(job.time_limit.count());
        keeps.push_back(job.keep.count());
    }
    pg_parameters p;
    p.add(ids).add(queues).add(functions).add(signatures).add(args).add(keys).add(submitters).add(priorities);
    p.add(delays).add(starts).add(retries).add(crash_limits).add(backoffs).add(time_limits).add(keeps);
    std::vector<put_result> results(jobs.size());
    // The holder of a key may finish between the insert and the look at it: then insert again.
    for (int attempt = 0;; ++attempt) {
        const pg_result r = connection.call(
            "SELECT * FROM spool.put($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)", p);
        bool is_complete = true;
        for (int i = 0; i < r.rows(); ++i) {
            put_result& result = results[static_cast<std::size_t>(i)];
            if (attempt != 0 && result.status == put_status::added && !result.id.is_nil()) {
                continue;  // by an earlier round
            }
            is_complete &= !r.is_null(i, 1);
            result = {r.integer(i, 0) != 0 ? put_status::added : put_status::known, r.id(i, 1)};
        }
        if (is_complete || attempt == 10) {
            return results;
        }
    }
}

std::vector<finish_status> call_finish(pg_connection& connection, std::span<const job_outcome> outcomes) {
    std::vector<job_id> ids;
    std::vector<std::int64_t> fences, retry_ins;
    std::vector<std::int32_t> kinds;
    std::vector<std::span<const std::uint8_t>> results;
    std::vector<std::string_view> types, texts;
    for (const job_outcome& o : outcomes) {
        ids.push_back(o.lease.id);
        fences.push_back(o.lease.fence);
        kinds.push_back(static_cast<std::int32_t>(o.kind));
        results.push_back(o.result);
        types.push_back(o.error_type);
        texts.push_back(o.error_text);
        retry_ins.push_back(o.retry_in.count());
    }
    const pg_result r = connection.call(
        "SELECT * FROM spool.finish($1, $2, $3, $4, $5, $6, $7)",
        pg_parameters{}.add(ids).add(fences).add(kinds).add(results).add(types).add(texts).add(retry_ins));
    std::vector<finish_status> statuses;
    for (int i = 0; i < r.rows(); ++i) {
        statuses.push_back(static_cast<finish_status>(r.integer(i, 0)));
    }
    return statuses;
}

}  // namespace detail

std::shared_ptr<broker> postgres(postgres_options options) {
    return std::make_shared<detail::postgres_broker>(std::move(options));
}

std::shared_ptr<broker> postgres(std::string connection) {
    return postgres(postgres_options{.connection = std::move(connection)});
}

int migrate_postgres(const postgres_options& options) {
    detail::pg_connection connection{options.connection, options.call_timeout};
    connection.call("BEGIN");
    // Two programs that migrate at once take turns.
    connection.call("SELECT pg_advisory_xact_lock(1397772113)");
    const bool exists = connection.call("SELECT to_regclass('spool.version') IS NOT NULL").integer(0, 0) != 0;
    std::int64_t version =
        exists ? connection.call("SELECT number FROM spool.version").integer(0, 0) : std::int64_t{0};
    if (version > detail::postgres_schema_version) {
        detail::check_version(connection);
    }
    for (; version < detail::postgres_schema_version; ++version) {
        connection.script(detail::migrations[static_cast<std::size_t>(version)]);
    }
    connection.call("COMMIT");
    return static_cast<int>(version);
}

std::vector<put_result> put_in(pg_conn* connection, std::span<const new_job> jobs) {
    detail::pg_connection borrowed{connection};
    return jobs.empty() ? std::vector<put_result>{} : detail::call_put(borrowed, jobs);
}

void finish_in(pg_conn* connection, bytes result) {
    const std::optional<lease> mine = this_job::current();
    if (!mine) {
        throw broker_error(broker_failure::misuse, "postgres broker: finish_in outside of a job");
    }
    detail::pg_connection borrowed{connection};
    job_outcome outcome;
    outcome.lease = *mine;
    outcome.result = std::move(result);
    if (detail::call_finish(borrowed, {&outcome, 1}).at(0) == finish_status::stale) {
        throw broker_error(broker_failure::unavailable, "postgres broker: job " + mine->id.text() +
                                                            ": another worker has its lease: roll back");
    }
    this_job::mark_finished();
}

}  // namespace spool::inline v1::remote
