#include "sqlite_broker.hpp"

#include <algorithm>

namespace spool::inline v1::remote {
namespace detail {
namespace {

constexpr std::chrono::milliseconds reap_interval{250};

template <class Enum>
Enum as(std::int64_t value) {
    return static_cast<Enum>(value);
}

std::string joined(const std::vector<std::string>& all) {
    std::string text;
    for (const std::string& one : all) {
        text += one + '\n';
    }
    return text;
}

}  // namespace

sqlite_broker::sqlite_broker(sqlite_options options)
    : options_(std::move(options)),
      db_(options_.file, options_.busy_timeout),
      offset_(prepare_schema(db_, options_)),
      locks_(options_.file + "-worker-") {}

bool sqlite_broker::make_room(const new_job& job, const put_limits& limits, std::int64_t now) {
    if (limits.bound == 0) {
        return true;
    }
    std::int64_t waiting = 0;
    for (const std::string_view sql : {"SELECT count(*) FROM job WHERE queue = ? AND state = 0",
                                       "SELECT count(*) FROM job WHERE queue = ? AND state = 1"}) {
        query q = db_.use(sql);
        q.bind(job.queue);
        waiting += q.step() ? q.integer(0) : 0;
    }
    const std::int64_t excess = waiting + 1 - static_cast<std::int64_t>(limits.bound);
    if (excess <= 0) {
        return true;
    }
    if (limits.when_full == full_queue::refuse) {
        return false;
    }
    std::vector<job_id> oldest;
    {
        query q = db_.use("SELECT id FROM job WHERE queue = ? AND state < 2 ORDER BY number LIMIT ?");
        q.bind(job.queue).bind(excess);
        while (q.step()) {
            oldest.push_back(q.id(0));
        }
    }
    for (const job_id& id : oldest) {
        stored_job victim;
        if (load(id, victim)) {
            victim.row.error_type = evicted_type;
            victim.row.error_text = "a newer job pushed it out of the full queue";
            end(victim.row, job_state::cancelled, now);
            store(victim);
        }
    }
    return true;
}

put_result sqlite_broker::add(const new_job& job, const put_limits& limits, std::int64_t now) {
    {
        query q = db_.use("SELECT 1 FROM job WHERE id = ?");
        if (q.bind(job.id).step()) {
            return {put_status::known, job.id};
        }
    }
    if (!job.key.empty()) {
        query q = db_.use("SELECT id FROM job WHERE queue = ? AND key = ? AND key IS NOT NULL AND state < 3");
        if (q.bind(job.queue).bind(job.key).step()) {
            return {put_status::known, q.id(0)};
        }
    }
    if (!make_room(job, limits, now)) {
        return {put_status::full, job.id};
    }
    job_row row;
    release(row, job.at ? job.at->time_since_epoch().count() : now + job.delay.count(), now);
    query q = db_.use(
        "INSERT INTO job (id, queue, function, signature, args, submitter, state, priority, created_at, "
        "run_at, "
        "retries, crash_limit, backoff, time_limit, keep, key) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    q.bind(job.id).bind(job.queue).bind(job.function).bind(static_cast<std::int64_t>(job.signature));
    q.bind(job.args).bind(job.submitter).bind(static_cast<std::int64_t>(row.state)).bind(job.priority);
    q.bind(now).bind(row.run_at).bind(job.retries).bind(job.crash_limit).bind(job.backoff.count());
    q.bind(job.time_limit.count()).bind(job.keep.count());
    job.key.empty() ? q.bind_null() : q.bind(job.key);
    q.run();
    return {put_status::added, job.id};
}

std::vector<put_result> sqlite_broker::put(std::span<const new_job> jobs, const put_limits& limits) {
    std::vector<put_result> results;
    results.reserve(jobs.size());
    const lock_guard lock{mutex_};
    transaction change{db_};
    const std::int64_t now = microseconds();
    for (const new_job& job : jobs) {
        results.push_back(add(job, limits, now));
    }
    change.commit();
    return results;
}

bool sqlite_broker::load(const job_id& id, stored_job& job) {
    query q = db_.use(
        "SELECT number, state, fence, run_at, lease_until, finished_at, keep, attempt, retries, crashes, "
        "crash_limit, cancel_requested, worker, error_type, error_text FROM job WHERE id = ?");
    if (!q.bind(id).step()) {
        return false;
    }
    job.number = q.integer(0);
    job_row& row = job.row;
    row.state = as<job_state>(q.integer(1));
    row.fence = q.integer(2);
    row.run_at = q.integer(3);
    row.lease_until = q.integer(4);
    row.finished_at = q.integer(5);
    row.keep = q.integer(6);
    row.attempt = static_cast<int>(q.integer(7));
    row.retries = static_cast<int>(q.integer(8));
    row.crashes = static_cast<int>(q.integer(9));
    row.crash_limit = static_cast<int>(q.integer(10));
    row.cancel_requested = q.integer(11) != 0;
    row.worker = q.text(12);
    row.error_type = q.text(13);
    row.error_text = q.text(14);
    return true;
}

void sqlite_broker::store(const stored_job& job) {
    std::int64_t done = 0;
    if (is_finished(job.row.state)) {
        query q = db_.use("UPDATE clock SET done_number = done_number + 1 RETURNING done_number");
        done = q.step() ? q.integer(0) : 0;
    }
    query q = db_.use(
        "UPDATE job SET state = ?, run_at = ?, lease_until = ?, finished_at = ?, attempt = ?, crashes = ?, "
        "cancel_requested = ?, worker = ?, error_type = ?, error_text = ?, done_number = ?, result = ? "
        "WHERE number = ?");
    const job_row& row = job.row;
    q.bind(static_cast<std::int64_t>(row.state)).bind(row.run_at).bind(row.lease_until).bind(row.finished_at);
    q.bind(row.attempt).bind(row.crashes).bind(row.cancel_requested ? 1 : 0).bind(row.worker);
    q.bind(row.error_type).bind(row.error_text).bind(done).bind(row.result).bind(job.number).run();
}

std::vector<renew_status> sqlite_broker::renew(std::span<const lease> leases, duration length) {
    std::vector<renew_status> results;
    const lock_guard lock{mutex_};
    transaction change{db_};
    const std::int64_t until = microseconds() + length.count();
    for (const lease& l : leases) {
        query q = db_.use("UPDATE job SET lease_until = ? WHERE id = ? AND state = 2 AND fence = ? RETURNING "
                          "cancel_requested");
        const bool is_ours = q.bind(until).bind(l.id).bind(l.fence).step();
        const bool stops = is_ours && q.integer(0) != 0;
        if (is_ours) {
            q.run();
        }
        results.push_back(!is_ours ? renew_status::lost
                          : stops  ? renew_status::stop_requested
                                   : renew_status::renewed);
    }
    change.commit();
    return results;
}

std::vector<finish_status> sqlite_broker::finish(std::span<const job_outcome> outcomes) {
    std::vector<finish_status> results;
    results.reserve(outcomes.size());
    const lock_guard lock{mutex_};
    transaction change{db_};
    const std::int64_t now = microseconds();
    for (const job_outcome& outcome : outcomes) {
        stored_job job;
        finish_status status = finish_status::stale;
        if (load(outcome.lease.id, job)) {
            status = detail::finish(job.row, outcome, now);
            if (status != finish_status::stale) {
                store(job);
            }
        }
        results.push_back(status);
    }
    change.commit();
    return results;
}

std::size_t sqlite_broker::hand_back(std::span<const lease> leases, duration delay) {
    std::size_t count = 0;
    const lock_guard lock{mutex_};
    transaction change{db_};
    const std::int64_t now = microseconds();
    for (const lease& l : leases) {
        stored_job job;
        if (load(l.id, job) && detail::hand_back(job.row, l.fence, now + delay.count(), now)) {
            store(job);
            ++count;
        }
    }
    change.commit();
    return count;
}

cancel_status sqlite_broker::cancel(const job_id& id) {
    const lock_guard lock{mutex_};
    transaction change{db_};
    stored_job job;
    if (!load(id, job)) {
        return cancel_status::unknown;
    }
    const cancel_status status = detail::cancel(job.row, microseconds());
    if (status != cancel_status::already_finished) {
        store(job);
        change.commit();
    }
    return status;
}

bool sqlite_broker::retry(const job_id& id) {
    const lock_guard lock{mutex_};
    transaction change{db_};
    stored_job job;
    if (!load(id, job) || !detail::retry(job.row, microseconds())) {
        return false;
    }
    {
        query q = db_.use(
            "SELECT 1 FROM job a JOIN job b ON b.queue = a.queue AND b.key = a.key AND b.key IS NOT NULL AND "
            "b.state < 3 WHERE a.number = ? AND b.number <> a.number");
        if (q.bind(job.number).step()) {
            return false;
        }
    }
    store(job);
    change.commit();
    return true;
}

std::size_t sqlite_broker::expire_leases(std::int64_t now, std::size_t limit) {
    std::vector<job_id> ids;
    query q = db_.use("SELECT id FROM job WHERE state = 2 AND lease_until <= ? ORDER BY lease_until LIMIT ?");
    q.bind(now).bind(static_cast<std::int64_t>(limit));
    while (q.step()) {
        ids.push_back(q.id(0));
    }
    expire_ids(ids, now);
    return ids.size();
}

void sqlite_broker::expire_ids(const std::vector<job_id>& ids, std::int64_t now) {
    for (const job_id& id : ids) {
        stored_job job;
        if (load(id, job) && job.row.state == job_state::running) {
            expire(job.row, now);
            store(job);
        }
    }
}

// Looks at the locks of other workers, and expires the leases of those whose process is gone.
void sqlite_broker::reap_dead_workers() {
    if (!next_reap_.expired()) {
        return;
    }
    next_reap_ = deadline::after(reap_interval);
    std::vector<std::string> dead;
    {
        query q = db_.use("SELECT id FROM worker");
        while (q.step()) {
            if (std::string id = q.text(0); locks_.is_dead(id)) {
                dead.push_back(std::move(id));
            }
        }
    }
    if (dead.empty()) {
        return;
    }
    transaction change{db_};
    const std::int64_t now = microseconds();
    for (const std::string& worker : dead) {
        std::vector<job_id> ids;
        {
            query q = db_.use("SELECT id FROM job WHERE state = 2 AND worker = ?");
            q.bind(worker);
            while (q.step()) {
                ids.push_back(q.id(0));
            }
        }
        expire_ids(ids, now);
        db_.use("DELETE FROM worker WHERE id = ?").bind(worker).run();
    }
    change.commit();
    for (const std::string& worker : dead) {
        locks_.remove_file(worker);
    }
}

void sqlite_broker::enlist(const worker_record& worker) {
    const lock_guard lock{mutex_};
    locks_.hold(worker.id);  // before the row: a row without a lock means a dead worker
    db_.use("INSERT OR REPLACE INTO worker VALUES (?, ?, ?)")
        .bind(worker.id)
        .bind(worker.name)
        .bind(joined(worker.functions))
        .run();
}

void sqlite_broker::retire(const std::string& worker) {
    const lock_guard lock{mutex_};
    db_.use("DELETE FROM worker WHERE id = ?").bind(worker).run();
    locks_.release(worker);
}

std::size_t sqlite_broker::tidy(std::size_t limit) {
    const lock_guard lock{mutex_};
    const std::int64_t now = microseconds();
    {
        query q = db_.use("SELECT EXISTS (SELECT 1 FROM job WHERE state = 2 AND lease_until <= ?1) OR "
                          "EXISTS (SELECT 1 FROM job WHERE state >= 3 AND finished_at + keep <= ?1)");
        if (q.bind(now).step() && q.integer(0) == 0) {
            return 0;  // nothing to do, and no write lock taken
        }
    }
    transaction change{db_};
    const std::size_t expired = expire_leases(now, limit);
    db_.use("DELETE FROM job WHERE number IN (SELECT number FROM job WHERE state >= 3 AND "
            "finished_at + keep <= ? ORDER BY finished_at + keep LIMIT ?)")
        .bind(now)
        .bind(static_cast<std::int64_t>(limit))
        .run();
    const auto removed = static_cast<std::size_t>(db_.changes());
    change.commit();
    return expired + removed;
}

}  // namespace detail

std::shared_ptr<broker> sqlite(sqlite_options options) {
    return std::make_shared<detail::sqlite_broker>(std::move(options));
}

std::shared_ptr<broker> sqlite(std::string file) {
    return sqlite(sqlite_options{.file = std::move(file)});
}

}  // namespace spool::inline v1::remote
