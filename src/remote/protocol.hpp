// The rules of leases, fences and outcomes, as pure functions over one job. memory_broker and
// sqlite_broker apply them under their lock; tests/model explores them; the functions of
// postgres/*.sql say the same in SQL, and the contract suite compares.
//
// Invariants:
//   P1  Only a call with the current fence changes a running job, except cancel() and expire().
//   P2  The fence grows with every take. It never goes back.
//   P3  A finished job never changes, except by retry().
#pragma once

#include <cstdint>
#include <string>

#include "spool/remote/broker.hpp"
#include "spool/remote/job.hpp"

namespace spool::inline v1::remote::detail {

/// The part of a job that the protocol reads and writes. Times are microseconds of the broker.
struct job_row {
    job_state state = job_state::queued;
    std::int64_t fence = 0;
    std::int64_t run_at = 0;
    std::int64_t lease_until = 0;
    std::int64_t finished_at = 0;
    std::int64_t keep = 0;
    int attempt = 0;
    int retries = 0;
    int crashes = 0;
    int crash_limit = 3;
    bool cancel_requested = false;
    std::string worker;
    bytes result;
    std::string error_type;
    std::string error_text;
};

inline bool holds(const job_row& job, std::int64_t fence) noexcept {
    return job.state == job_state::running && job.fence == fence;
}

inline void end(job_row& job, job_state state, std::int64_t now) noexcept {
    job.state = state;
    job.finished_at = now;
    job.lease_until = 0;
}

inline void release(job_row& job, std::int64_t run_at, std::int64_t now) noexcept {
    job.state = run_at > now ? job_state::delayed : job_state::queued;
    job.run_at = run_at > now ? run_at : now;
    job.lease_until = 0;
    job.worker.clear();
}

/// Queues the job at its old place: it has waited before.
inline void requeue(job_row& job) noexcept {
    job.state = job_state::queued;
    job.lease_until = 0;
    job.worker.clear();
}

/// Precondition: the job is queued.
inline void take(job_row& job, const std::string& worker, std::int64_t until) {
    job.worker = worker;
    job.state = job_state::running;
    ++job.fence;  // P2
    job.lease_until = until;
}

inline renew_status renew(job_row& job, std::int64_t fence, std::int64_t until) noexcept {
    if (!holds(job, fence)) {
        return renew_status::lost;  // P1
    }
    job.lease_until = until;
    return job.cancel_requested ? renew_status::stop_requested : renew_status::renewed;
}

inline finish_status finish(job_row& job, const job_outcome& outcome, std::int64_t now) {
    if (!holds(job, outcome.lease.fence)) {
        return finish_status::stale;  // P1, P3
    }
    job.error_type = outcome.error_type;
    job.error_text = outcome.error_text;
    switch (outcome.kind) {
        case outcome_kind::succeeded:
            job.result = outcome.result;
            end(job, job_state::succeeded, now);
            return finish_status::finished;
        case outcome_kind::cancelled: end(job, job_state::cancelled, now); return finish_status::finished;
        case outcome_kind::refused:
            ++job.attempt;
            end(job, job_state::failed, now);
            return finish_status::finished;
        case outcome_kind::error: break;
    }
    ++job.attempt;
    if (job.cancel_requested) {
        end(job, job_state::cancelled, now);
        return finish_status::finished;
    }
    if (job.attempt > job.retries) {
        end(job, job_state::failed, now);
        return finish_status::finished;
    }
    release(job, now + outcome.retry_in.count(), now);
    return finish_status::retrying;
}

inline bool hand_back(job_row& job, std::int64_t fence, std::int64_t run_at, std::int64_t now) noexcept {
    if (!holds(job, fence)) {
        return false;  // P1
    }
    if (job.cancel_requested) {
        end(job, job_state::cancelled, now);
    } else if (run_at > now) {
        release(job, run_at, now);
    } else {
        requeue(job);
    }
    return true;
}

/// The lease is lost: it ran out, or its worker is gone. Precondition: the job is running.
inline void expire(job_row& job, std::int64_t now) {
    ++job.crashes;
    if (job.cancel_requested) {
        end(job, job_state::cancelled, now);
    } else if (job.crashes >= job.crash_limit) {
        job.error_type = "spool::lost";
        job.error_text =
            "its worker was lost " + std::to_string(job.crashes) + " time(s) while it ran the job";
        end(job, job_state::dead, now);
    } else {
        requeue(job);
    }
}

inline cancel_status cancel(job_row& job, std::int64_t now) noexcept {
    if (is_finished(job.state)) {
        return cancel_status::already_finished;  // P3
    }
    if (job.state == job_state::running) {
        job.cancel_requested = true;
        return cancel_status::stop_requested;
    }
    end(job, job_state::cancelled, now);
    return cancel_status::cancelled;
}

/// False: the job is neither failed, cancelled nor dead.
inline bool retry(job_row& job, std::int64_t now) noexcept {
    if (!is_finished(job.state) || job.state == job_state::succeeded) {
        return false;
    }
    release(job, now, now);
    job.attempt = job.crashes = 0;
    job.cancel_requested = false;
    job.finished_at = 0;
    job.error_type.clear();
    job.error_text.clear();
    return true;
}

/// The tokens of a queue with a rate: how many jobs may start now.
struct token_bucket {
    double tokens = 0;
    std::int64_t filled_at = 0;

    std::int64_t available(const queue_settings& settings, std::int64_t now) noexcept {
        const double gained = settings.rate * static_cast<double>(now - filled_at) / 1e6;
        filled_at = now;
        tokens = tokens + gained > settings.burst ? settings.burst : tokens + gained;
        return static_cast<std::int64_t>(tokens);
    }
    /// Until there is one more whole token.
    [[nodiscard]] duration next(const queue_settings& settings) const noexcept {
        const double missing = 1 - (tokens - static_cast<double>(static_cast<std::int64_t>(tokens)));
        return duration{static_cast<std::int64_t>(missing / settings.rate * 1e6) + 1};
    }
};

}  // namespace spool::inline v1::remote::detail
