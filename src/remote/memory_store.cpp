#include "memory_store.hpp"

#include <algorithm>

namespace spool::inline v1::remote::detail {
namespace {

server_time to_time(std::int64_t microseconds) {
    return server_time{duration{microseconds}};
}

bool contains(const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
}

}  // namespace

job_record memory_job::record(record_parts parts) const {
    job_record r;
    r.id = given.id;
    r.queue = given.queue;
    r.function = given.function;
    r.signature = given.signature;
    r.key = given.key;
    r.state = row.state;
    r.priority = given.priority;
    r.attempt = row.attempt;
    r.retries = row.retries;
    r.crashes = row.crashes;
    r.fence = row.fence;
    r.cancel_requested = row.cancel_requested;
    r.worker = row.worker;
    r.error_type = row.error_type;
    r.error_text = row.error_text;
    r.created_at = to_time(created_at);
    r.run_at = to_time(row.run_at);
    r.lease_until = to_time(row.lease_until);
    r.finished_at = to_time(row.finished_at);
    if (parts != record_parts::none) {
        r.result = row.result;
    }
    if (parts == record_parts::all) {
        r.args = given.args;
    }
    return r;
}

leased_job memory_job::leased() const {
    return {given.id,       row.fence,   given.queue, given.function, given.signature, given.args,
            given.priority, row.attempt, row.crashes, row.retries,    given.backoff,   given.time_limit};
}

memory_job* memory_store::find(const job_id& id) {
    const auto found = jobs_.find(id);
    return found == jobs_.end() ? nullptr : &found->second;
}

bool memory_store::has_free_key(const memory_job& job) {
    const auto& keys = queues_[job.given.queue].keys;
    const auto found = keys.find(job.given.key);
    return job.given.key.empty() || found == keys.end() || found->second == &job;
}

void memory_store::link(memory_job& job) {
    memory_queue& q = queues_[job.given.queue];
    ++q.counts[static_cast<std::size_t>(job.row.state)];
    switch (job.row.state) {
        case job_state::delayed: delayed_.emplace(job.row.run_at, &job); break;
        case job_state::queued: q.ready.emplace(order_of(job), &job); break;
        case job_state::running: leases_.emplace(job.row.lease_until, &job); break;
        default: finished_.emplace(job.row.finished_at + job.row.keep, &job); return;
    }
    if (job.row.state != job_state::running) {
        q.unstarted.emplace(job.number, &job);
    }
    if (!job.given.key.empty()) {
        q.keys.emplace(job.given.key, &job);
    }
}

void memory_store::unlink(memory_job& job) {
    memory_queue& q = queues_[job.given.queue];
    --q.counts[static_cast<std::size_t>(job.row.state)];
    switch (job.row.state) {
        case job_state::delayed: delayed_.erase({job.row.run_at, &job}); break;
        case job_state::queued: q.ready.erase(order_of(job)); break;
        case job_state::running: leases_.erase({job.row.lease_until, &job}); break;
        default: finished_.erase({job.row.finished_at + job.row.keep, &job}); return;
    }
    q.unstarted.erase(job.number);
    if (!job.given.key.empty()) {
        q.keys.erase(job.given.key);
    }
}

void memory_store::tell(const memory_job& job, job_state before) {
    if (job.row.state == job_state::queued) {
        tell_queue(job.given.queue);
    }
    if (!is_finished(before) && is_finished(job.row.state)) {
        for (memory_inbox* inbox : inboxes) {
            if (!job.given.submitter.empty() && inbox->topics.submitter == job.given.submitter) {
                inbox->news.finished.push_back(job.given.id);
                inbox->wake();
            } else if (!inbox->topics.submitter.empty()) {
                inbox->news.check_all = true;  // another executor may wait for it by find()
                inbox->wake();
            }
        }
    }
}

void memory_store::tell_worker(const memory_job& job) {
    for (memory_inbox* inbox : inboxes) {
        if (inbox->topics.worker == job.row.worker) {
            inbox->news.stop_requested.push_back(job.given.id);
            inbox->wake();
        }
    }
}

void memory_store::tell_queue(const std::string& name) {
    for (memory_inbox* inbox : inboxes) {
        if (contains(inbox->topics.queues, name)) {
            inbox->news.work = true;
            inbox->wake();
        }
    }
}

put_result memory_store::add(const new_job& given, const put_limits& limits, std::int64_t now) {
    if (find(given.id) != nullptr) {
        return {put_status::known, given.id};
    }
    memory_queue& q = queues_[given.queue];
    if (const auto same = q.keys.find(given.key); !given.key.empty() && same != q.keys.end()) {
        return {put_status::known, same->second->given.id};
    }
    while (limits.bound != 0 && q.unstarted.size() >= limits.bound) {
        if (limits.when_full == full_queue::refuse) {
            return {put_status::full, given.id};
        }
        change(*q.unstarted.begin()->second, [&](memory_job& oldest) {
            oldest.row.error_type = evicted_type;
            oldest.row.error_text = "a newer job pushed it out of the full queue";
            end(oldest.row, job_state::cancelled, now);
            return true;
        });
    }
    memory_job& job = jobs_[given.id];
    job.given = given;
    job.number = next_number_++;
    job.created_at = now;
    job.row.retries = given.retries;
    job.row.crash_limit = given.crash_limit;
    job.row.keep = given.keep.count();
    const std::int64_t at = given.at ? given.at->time_since_epoch().count()
                                     : now + std::max<std::int64_t>(given.delay.count(), 0);
    release(job.row, at, now);
    link(job);
    tell(job, job.row.state);
    return {put_status::added, given.id};
}

void memory_store::take_from(memory_queue& queue, std::size_t quota, const take_request& request,
                             std::int64_t now, taken_jobs& taken) {
    if (queue.settings.paused) {
        return;
    }
    if (queue.settings.rate > 0) {
        const std::int64_t tokens = queue.bucket.available(queue.settings, now);
        if (tokens < static_cast<std::int64_t>(quota) && !queue.ready.empty()) {
            quota = static_cast<std::size_t>(std::max<std::int64_t>(tokens, 0));
            taken.next_in = std::min(taken.next_in, queue.bucket.next(queue.settings));
        }
    }
    for (auto at = queue.ready.begin(); at != queue.ready.end() && quota != 0;) {
        memory_job& job = *at->second;
        ++at;  // the change below erases the entry of `job`
        if (!contains(request.functions, job.given.function)) {
            continue;
        }
        change(job, [&](memory_job& j) {
            detail::take(j.row, request.worker, now + request.lease.count());
            return true;
        });
        taken.jobs.push_back(job.leased());
        queue.bucket.tokens -= queue.settings.rate > 0 ? 1 : 0;
        --quota;
    }
}

taken_jobs memory_store::take(const take_request& request, std::int64_t now) {
    taken_jobs taken;
    for (const queue_share& share : request.queues) {
        const std::size_t quota = std::min(share.quota, request.limit - taken.jobs.size());
        take_from(queues_[share.queue], quota, request, now, taken);
    }
    for (const queue_share& share : request.queues) {
        if (taken.jobs.size() < request.limit) {
            take_from(queues_[share.queue], request.limit - taken.jobs.size(), request, now, taken);
        }
    }
    if (!delayed_.empty()) {
        taken.next_in = std::min(taken.next_in, duration{delayed_.begin()->first - now});
    }
    return taken;
}

std::size_t memory_store::expire_leases(std::int64_t now, std::size_t limit) {
    std::size_t count = 0;
    while (count < limit && !leases_.empty() && leases_.begin()->first <= now) {
        change(*leases_.begin()->second, [&](memory_job& job) {
            expire(job.row, now);
            return true;
        });
        ++count;
    }
    return count;
}

void memory_store::release_delayed(std::int64_t now) {
    while (!delayed_.empty() && delayed_.begin()->first <= now) {
        change(*delayed_.begin()->second, [&](memory_job& job) {
            job.row.state = job_state::queued;  // run_at stays: it is the place in the order
            return true;
        });
    }
}

std::size_t memory_store::remove_outcomes(std::int64_t now, std::size_t limit) {
    std::size_t count = 0;
    while (count < limit && !finished_.empty() && finished_.begin()->first <= now) {
        memory_job& job = *finished_.begin()->second;
        unlink(job);
        jobs_.erase(job.given.id);
        ++count;
    }
    return count;
}

std::vector<job_record> memory_store::look(const look_filter& filter) const {
    std::vector<const memory_job*> found;
    for (const auto& [id, job] : jobs_) {
        const auto has = [](const auto& all, const auto& one) {
            return all.empty() || std::find(all.begin(), all.end(), one) != all.end();
        };
        if ((filter.queue.empty() || filter.queue == job.given.queue) &&
            (filter.function.empty() || filter.function == job.given.function) &&
            has(filter.states, job.row.state) && has(filter.ids, id)) {
            found.push_back(&job);
        }
    }
    std::sort(found.begin(), found.end(), [](auto* a, auto* b) { return a->number > b->number; });
    found.resize(std::min(found.size(), filter.limit));
    std::vector<job_record> records;
    for (const memory_job* job : found) {
        records.push_back(job->record(filter.payloads ? record_parts::all : record_parts::none));
    }
    return records;
}

std::vector<queue_record> memory_store::queues() const {
    std::vector<queue_record> records;
    for (const auto& [name, q] : queues_) {
        const auto& n = q.counts;
        records.push_back({name, q.settings, n[0], n[1], n[2], n[3], n[4], n[5], n[6]});
    }
    return records;
}

std::vector<std::string> memory_store::unserved(std::span<const std::string> names) {
    std::vector<std::string> functions;
    for (const std::string& name : names) {
        for (const auto& [order, job] : queues_[name].ready) {
            const std::string& function = job->given.function;
            const bool has_worker = std::any_of(workers.begin(), workers.end(), [&](const auto& w) {
                return contains(w.second.functions, function);
            });
            if (!has_worker && !contains(functions, function)) {
                functions.push_back(function);
            }
        }
    }
    return functions;
}

}  // namespace spool::inline v1::remote::detail
