// The watcher thread of an executor.
#include <algorithm>
#include <unordered_set>

#include "executor_core.hpp"
#include "spool/base/error.hpp"

namespace spool::inline v1::remote::detail {
namespace {

constexpr std::size_t poll_batch = 1000;
constexpr std::chrono::milliseconds reconnect_pause{100};

}  // namespace

void executor_core::start() {
    // The thread shares the core: an on_done callback may destroy the executor.
    watcher_ = std::thread{[self = shared_from_this()] { self->watch(); }};
}

void executor_core::close() {
    std::map<std::uint64_t, waiting> rest;
    {
        const lock_guard lock{mutex_};
        is_shut_down_ = is_closing_ = true;
        rest.swap(entries_);
        by_id_.clear();
        changed_.notify_all();
    }
    interrupt();
    if (watcher_.get_id() == std::this_thread::get_id()) {
        watcher_.detach();  // a callback of ours destroys the executor: watch() ends by itself
    } else {
        watcher_.join();
    }
    rest.clear();  // cancels the futures; their on_done finds no entry
}

void executor_core::interrupt() {
    const lock_guard lock{mutex_};
    changed_.notify_all();
    if (news_ != nullptr) {
        news_->interrupt();
    }
}

void executor_core::pause(std::chrono::milliseconds d) {
    const deadline until = deadline::after(d);
    const lock_guard lock{mutex_};
    while (!is_closing_ && !until.expired()) {
        changed_.wait_until(mutex_, until.when());
    }
}

// Ends when close() was called. Every failure of the broker leads to a new subscription and a look
// at all pending jobs: wake-ups may have been lost.
void executor_core::watch() {
    while (true) {
        {
            const lock_guard lock{mutex_};
            if (is_closing_) {
                return;
            }
        }
        try {
            const std::shared_ptr<subscription> news = options_.broker->subscribe({{}, submitter_, {}});
            {
                const lock_guard lock{mutex_};
                news_ = news;
            }
            next_poll_ = deadline::after(std::chrono::seconds{0});
            cursor_ = 0;
            while (true) {
                watch_once(*news);
                const lock_guard lock{mutex_};
                if (is_closing_) {
                    news_ = nullptr;
                    return;
                }
            }
        } catch (const broker_error&) {
            // The broker is away, or refuses: futures wait, and submit() reports the reason.
        } catch (...) {
            report_uncaught("remote::executor \"" + options_.name + "\"", std::current_exception());
        }
        {
            const lock_guard lock{mutex_};
            news_ = nullptr;
        }
        pause(reconnect_pause);
    }
}

void executor_core::watch_once(subscription& news) {
    send_cancellations();
    send_ticks();
    std::vector<job_id> ids;
    bool has_periodics = false;
    {
        const lock_guard lock{mutex_};
        ids.swap(to_check_);
        has_periodics = !periodics_.empty();
    }
    if (!ids.empty()) {
        read(ids);
    }
    const deadline tick = deadline::after(std::chrono::milliseconds{100});
    wake_up wake = news.wait_until(has_periodics ? std::min(next_poll_, tick) : next_poll_);
    if (!wake.finished.empty()) {
        read(wake.finished);
    }
    if (wake.check_all) {
        cursor_ = 0;
        for (std::vector<job_id> part = next_ids(poll_batch); !part.empty(); part = next_ids(poll_batch)) {
            read(part);
        }
    } else if (next_poll_.expired()) {
        next_poll_ = deadline::after(std::chrono::nanoseconds{options_.poll});
        read(next_ids(poll_batch));
    }
}

// The next jobs that futures wait for, by rotation; empty at the end of a round.
std::vector<job_id> executor_core::next_ids(std::size_t limit) {
    std::vector<job_id> ids;
    const lock_guard lock{mutex_};
    auto at = entries_.upper_bound(cursor_);
    for (; at != entries_.end() && ids.size() < limit; ++at) {
        cursor_ = at->first;
        ids.push_back(at->second.id);
    }
    if (at == entries_.end() && ids.empty()) {
        cursor_ = 0;
    }
    return ids;
}

void executor_core::read(const std::vector<job_id>& ids) {
    std::vector<job_id> wanted;
    std::unordered_set<job_id> acknowledged;  // before the broker is asked: so it must know them
    {
        const lock_guard lock{mutex_};
        for (const job_id& id : ids) {
            if (const auto found = by_id_.find(id); found != by_id_.end()) {
                wanted.push_back(id);
                if (entries_.at(found->second).is_put) {
                    acknowledged.insert(id);
                }
            }
        }
    }
    for (std::size_t from = 0; from < wanted.size(); from += poll_batch) {
        const std::size_t count = std::min(poll_batch, wanted.size() - from);
        const std::span<const job_id> part = std::span<const job_id>{wanted}.subspan(from, count);
        const std::vector<job_record> found = options_.broker->outcomes(part);
        for (const job_record& record : found) {
            acknowledged.erase(record.id);
            deliver(record);
        }
    }
    for (const job_id& id : acknowledged) {
        report_expired(id);
    }
}

void executor_core::report_expired(const job_id& id) {
    job_record record;
    record.id = id;
    const std::exception_ptr error = std::make_exception_ptr(
        remote_error(job_state::succeeded, record,
                     "job " + id.text() + ": the broker does not know it; its outcome may have expired"));
    for (const waiting& entry : extract(record, which_entries::all)) {
        try {
            entry.pending->fail(error);
        } catch (...) {  // an on_done callback
            report_uncaught("an on_done callback of remote::executor \"" + options_.name + "\"",
                            std::current_exception());
        }
    }
}

void executor_core::deliver(const job_record& record) {
    const auto which = is_finished(record.state) ? which_entries::all : which_entries::mismatched;
    for (const waiting& entry : extract(record, which)) {
        try {
            if (entry.is_mismatch(record)) {
                entry.pending->fail(std::make_exception_ptr(std::invalid_argument(
                    "remote::executor \"" + options_.name + "\": job " + record.id.text() + " is of " +
                    record.function + ", not of " + entry.function + " with the signature given")));
            } else if (record.state == job_state::succeeded) {
                entry.pending->complete(record, options_.limits);
            } else if (record.state == job_state::cancelled && record.error_type != evicted_type) {
                entry.pending->cancel();
            } else {
                entry.pending->fail(failure_of(record, "remote::executor \"" + options_.name + "\""));
            }
        } catch (...) {  // an on_done callback
            report_uncaught("an on_done callback of remote::executor \"" + options_.name + "\"",
                            std::current_exception());
        }
    }
}

void executor_core::send_cancellations() {
    while (true) {
        job_id id;
        {
            const lock_guard lock{mutex_};
            if (to_cancel_.empty()) {
                return;
            }
            id = to_cancel_.back();
        }
        options_.broker->cancel(id);  // if it throws, the id stays for the next round
        const lock_guard lock{mutex_};
        std::erase(to_cancel_, id);
    }
}

// Puts the job of the next tick ahead of time. Its id is made from key and tick, so the executors
// that share a key add it once.
void executor_core::send_ticks() {
    std::vector<std::shared_ptr<periodic>> due;
    {
        const lock_guard lock{mutex_};
        for (const std::shared_ptr<periodic>& p : periodics_) {
            if (p->wake.expired()) {
                due.push_back(p);
            }
        }
    }
    for (const std::shared_ptr<periodic>& p : due) {
        const std::int64_t now = options_.broker->now().time_since_epoch().count();
        p->next_tick = std::max(p->next_tick, now / p->every) + 1;
        new_job job = p->job;
        job.id = job_id::of(p->key + "@" + std::to_string(p->every) + "@" + std::to_string(p->next_tick));
        job.at = server_time{duration{p->next_tick * p->every}};
        options_.broker->put({&job, 1}, {});
        const std::int64_t ahead = p->next_tick * p->every - now;
        p->wake = deadline::after(duration{ahead});
    }
}

}  // namespace spool::inline v1::remote::detail
