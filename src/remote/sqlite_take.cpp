// How sqlite_broker gives jobs out, and how it shows them.
#include <algorithm>
#include <sstream>

#include "sqlite_broker.hpp"

namespace spool::inline v1::remote::detail {
namespace {

constexpr std::size_t lease_batch = 1000;
constexpr int delayed_batch = 1000;

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in{text};
    for (std::string line; std::getline(in, line);) {
        lines.push_back(line);
    }
    return lines;
}

bool contains(const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
}

server_time to_time(std::int64_t microseconds) {
    return server_time{duration{microseconds}};
}

constexpr std::string_view record_columns =
    "SELECT id, queue, function, signature, key, state, priority, attempt, retries, crashes, fence, "
    "cancel_requested, worker, error_type, error_text, created_at, run_at, lease_until, finished_at, args, "
    "result FROM job ";

job_record record_of(const query& q, bool has_args, bool has_result) {
    job_record r;
    r.id = q.id(0);
    r.queue = q.text(1);
    r.function = q.text(2);
    r.signature = static_cast<std::uint64_t>(q.integer(3));
    r.key = q.text(4);
    r.state = static_cast<job_state>(q.integer(5));
    r.priority = static_cast<int>(q.integer(6));
    r.attempt = static_cast<int>(q.integer(7));
    r.retries = static_cast<int>(q.integer(8));
    r.crashes = static_cast<int>(q.integer(9));
    r.fence = q.integer(10);
    r.cancel_requested = q.integer(11) != 0;
    r.worker = q.text(12);
    r.error_type = q.text(13);
    r.error_text = q.text(14);
    r.created_at = to_time(q.integer(15));
    r.run_at = to_time(q.integer(16));
    r.lease_until = to_time(q.integer(17));
    r.finished_at = to_time(q.integer(18));
    if (has_args) {
        r.args = q.blob(19);
    }
    if (has_result) {
        r.result = q.blob(20);
    }
    return r;
}

}  // namespace

// Read only, so that idle workers do not fight for the write lock.
bool sqlite_broker::has_work(const take_request& request, std::int64_t now) {
    query leases = db_.use("SELECT 1 FROM job WHERE state = 2 AND lease_until <= ? LIMIT 1");
    if (leases.bind(now).step()) {
        return true;
    }
    return std::any_of(request.queues.begin(), request.queues.end(), [&](const queue_share& share) {
        mutex_.assert_held();
        query ready = db_.use("SELECT 1 FROM job WHERE state = 1 AND queue = ? LIMIT 1");
        query delayed = db_.use("SELECT 1 FROM job WHERE state = 0 AND queue = ? AND run_at <= ? LIMIT 1");
        return ready.bind(share.queue).step() || delayed.bind(share.queue).bind(now).step();
    });
}

// When the next delayed job of these queues becomes ready.
void sqlite_broker::note_next_delayed(const take_request& request, std::int64_t now, taken_jobs& taken) {
    for (const queue_share& share : request.queues) {
        query q = db_.use("SELECT run_at FROM job WHERE state = 0 AND queue = ? ORDER BY run_at LIMIT 1");
        if (q.bind(share.queue).step()) {
            taken.next_in = std::min(taken.next_in, duration{std::max<std::int64_t>(q.integer(0) - now, 0)});
        }
    }
}

taken_jobs sqlite_broker::take(const take_request& request) {
    taken_jobs taken;
    const lock_guard lock{mutex_};
    reap_dead_workers();
    std::int64_t now = microseconds();
    if (!has_work(request, now)) {
        note_next_delayed(request, now, taken);
        return taken;
    }
    transaction change{db_};
    now = microseconds();
    expire_leases(now, lease_batch);
    for (const queue_share& share : request.queues) {
        db_.use("UPDATE job SET state = 1 WHERE number IN (SELECT number FROM job WHERE state = 0 AND "
                "queue = ? AND run_at <= ? ORDER BY run_at LIMIT ?)")
            .bind(share.queue)
            .bind(now)
            .bind(delayed_batch)
            .run();
    }
    for (const queue_share& share : request.queues) {
        take_from(share, std::min(share.quota, request.limit - taken.jobs.size()), request, now, taken);
    }
    for (const queue_share& share : request.queues) {
        take_from(share, request.limit - taken.jobs.size(), request, now, taken);
    }
    note_next_delayed(request, now, taken);
    change.commit();  // the last step that can fail: B8
    return taken;
}

// How many jobs of the queue may start now: none if it is paused, tokens if it has a rate.
std::int64_t sqlite_broker::tokens_of(const std::string& queue, std::int64_t now, taken_jobs& taken) {
    queue_settings settings;
    token_bucket bucket;
    {
        query q = db_.use("SELECT paused, rate, burst, tokens, filled_at FROM queue WHERE name = ?");
        if (!q.bind(queue).step()) {
            return INT64_MAX;
        }
        settings = {q.integer(0) != 0, q.real(1), q.real(2)};
        bucket = {q.real(3), q.integer(4)};
    }
    if (settings.paused) {
        return 0;
    }
    if (settings.rate <= 0) {
        return INT64_MAX;
    }
    const std::int64_t tokens = bucket.available(settings, now);
    taken.next_in = std::min(taken.next_in, bucket.next(settings));
    db_.use("UPDATE queue SET tokens = ?, filled_at = ? WHERE name = ?")
        .bind_real(bucket.tokens)
        .bind(bucket.filled_at)
        .bind(queue)
        .run();
    return tokens;
}

void sqlite_broker::take_from(const queue_share& share, std::size_t quota, const take_request& request,
                              std::int64_t now, taken_jobs& taken) {
    if (quota == 0) {
        return;
    }
    const std::int64_t tokens = tokens_of(share.queue, now, taken);
    quota = tokens >= static_cast<std::int64_t>(quota) ? quota : static_cast<std::size_t>(tokens);
    const std::size_t first = taken.jobs.size();
    {
        query q = db_.use(
            "SELECT id, fence, function, signature, args, priority, attempt, crashes, retries, backoff, "
            "time_limit FROM job WHERE state = 1 AND queue = ? ORDER BY priority DESC, run_at, number");
        q.bind(share.queue);
        while (taken.jobs.size() - first < quota && q.step()) {
            std::string function = q.text(2);
            if (contains(request.functions, function)) {
                taken.jobs.push_back({q.id(0), q.integer(1) + 1, share.queue, std::move(function),
                                      static_cast<std::uint64_t>(q.integer(3)), q.blob(4),
                                      static_cast<int>(q.integer(5)), static_cast<int>(q.integer(6)),
                                      static_cast<int>(q.integer(7)), static_cast<int>(q.integer(8)),
                                      duration{q.integer(9)}, duration{q.integer(10)}});
            }
        }
    }
    for (std::size_t i = first; i < taken.jobs.size(); ++i) {
        db_.use("UPDATE job SET state = 2, fence = ?, lease_until = ?, worker = ? WHERE id = ?")
            .bind(taken.jobs[i].fence)
            .bind(now + request.lease.count())
            .bind(request.worker)
            .bind(taken.jobs[i].id)
            .run();
    }
    if (tokens != INT64_MAX && taken.jobs.size() != first) {
        db_.use("UPDATE queue SET tokens = tokens - ? WHERE name = ?")
            .bind(static_cast<std::int64_t>(taken.jobs.size() - first))
            .bind(share.queue)
            .run();
    }
}

std::vector<job_record> sqlite_broker::look(const look_filter& filter) {
    static const std::string all = std::string(record_columns) + "ORDER BY number DESC";
    static const std::string one = std::string(record_columns) + "WHERE id = ?";
    std::vector<job_record> records;
    const auto add = [&](const query& q) {
        const auto state = static_cast<job_state>(q.integer(5));
        const bool fits = (filter.queue.empty() || filter.queue == q.text(1)) &&
                          (filter.function.empty() || filter.function == q.text(2)) &&
                          (filter.states.empty() || std::find(filter.states.begin(), filter.states.end(),
                                                              state) != filter.states.end());
        if (fits && records.size() < filter.limit) {
            records.push_back(record_of(q, filter.payloads, filter.payloads));
        }
    };
    const lock_guard lock{mutex_};
    if (filter.ids.empty()) {
        query q = db_.use(all);
        while (records.size() < filter.limit && q.step()) {
            add(q);
        }
    }
    for (const job_id& id : filter.ids) {
        query q = db_.use(one);
        if (q.bind(id).step()) {
            add(q);
        }
    }
    return records;
}

std::vector<job_record> sqlite_broker::outcomes(std::span<const job_id> ids) {
    static const std::string one = std::string(record_columns) + "WHERE id = ?";
    std::vector<job_record> records;
    const lock_guard lock{mutex_};
    for (const job_id& id : ids) {
        query q = db_.use(one);
        if (q.bind(id).step()) {
            records.push_back(record_of(q, false, true));
        }
    }
    return records;
}

std::vector<queue_record> sqlite_broker::queues() {
    std::map<std::string, queue_record> all;
    const lock_guard lock{mutex_};
    {
        query q = db_.use("SELECT name, paused, rate, burst FROM queue");
        while (q.step()) {
            all[q.text(0)].settings = {q.integer(1) != 0, q.real(2), q.real(3)};
        }
    }
    query q = db_.use("SELECT queue, state, count(*) FROM job GROUP BY queue, state");
    while (q.step()) {
        queue_record& r = all[q.text(0)];
        std::uint64_t* const counts[] = {&r.delayed, &r.queued,    &r.running, &r.succeeded,
                                         &r.failed,  &r.cancelled, &r.dead};
        *counts[std::clamp<std::int64_t>(q.integer(1), 0, 6)] = static_cast<std::uint64_t>(q.integer(2));
    }
    std::vector<queue_record> records;
    for (auto& [name, record] : all) {
        record.queue = name;
        records.push_back(std::move(record));
    }
    return records;
}

void sqlite_broker::configure(const std::string& queue, const queue_settings& settings) {
    const lock_guard lock{mutex_};
    db_.use("INSERT OR REPLACE INTO queue VALUES (?, ?, ?, ?, ?, ?)")
        .bind(queue)
        .bind(settings.paused ? 1 : 0)
        .bind_real(settings.rate)
        .bind_real(settings.burst)
        .bind_real(settings.burst)
        .bind(microseconds())
        .run();
}

std::vector<worker_record> sqlite_broker::workers() {
    std::vector<worker_record> all;
    const lock_guard lock{mutex_};
    query q = db_.use("SELECT id, name, functions FROM worker");
    while (q.step()) {
        all.push_back({q.text(0), q.text(1), lines_of(q.text(2))});
    }
    return all;
}

std::vector<std::string> sqlite_broker::unserved(std::span<const std::string> queues) {
    std::vector<std::string> served;
    for (const worker_record& worker : workers()) {
        served.insert(served.end(), worker.functions.begin(), worker.functions.end());
    }
    std::vector<std::string> functions;
    const lock_guard lock{mutex_};
    for (const std::string& queue : queues) {
        query q =
            db_.use("SELECT DISTINCT function FROM (SELECT function FROM job WHERE state = 1 AND queue = ? "
                    "ORDER BY priority DESC, run_at, number LIMIT 1000)");
        q.bind(queue);
        while (q.step()) {
            if (std::string function = q.text(0);
                !contains(served, function) && !contains(functions, function)) {
                functions.push_back(std::move(function));
            }
        }
    }
    return functions;
}

}  // namespace spool::inline v1::remote::detail
