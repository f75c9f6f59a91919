#include "pool/admission_path.hpp"

#include <algorithm>
#include <vector>

#include "pool/deadlock/deadlock_watch.hpp"
#include "pool/rejection_path.hpp"
#include "spool/base/error.hpp"

namespace spool::inline v1 {

// ---- The slow parts of the fast paths

template <class Pool>
[[gnu::noinline]] void admission_path<Pool>::publish_and_execute(task_type& work) {
    calls_under_way::entry call = enter_call();
    const ticket mine = pool_.backlog.publish(work);
    if (const admitted how = admit_or_recover(work); how != admitted::queued) {
        call.end();
        finish_or_reject(work, mine, how);
    }
}

template <class Pool>
[[gnu::noinline]] void admission_path<Pool>::finish_or_reject(task_type& work, ticket mine, admitted how) {
    std::exception_ptr error;
    calls_under_way::entry call = enter_call();
    const admission_result answer = finish(work, mine, how, error);
    call.end();
    if (answer != admission_result::accepted) {
        rejection_path{pool_}.refuse(std::move(work), answer, error);
    }
}

template <class Pool>
[[gnu::noinline]] bool admission_path<Pool>::publish_and_fork(task_type& child) {
    std::exception_ptr error;
    return try_admit(child, error) == admission_result::accepted;
}

template <class Pool>
[[gnu::noinline]] bool admission_path<Pool>::finish_fork(task_type& child, ticket mine, admitted how) {
    std::exception_ptr error;
    return finish(child, mine, how, error) == admission_result::accepted;
}

// ---- Other ways in

template <class Pool>
admission_result admission_path<Pool>::execute_until(task_type& work, deadline until,
                                                     const std::stop_token& stop) {
    std::exception_ptr error;
    for (;;) {
        const std::uint64_t version = pool_.settings.version();
        const admission_result now = try_admit(work, error);
        const std::size_t workers = pool_.control.load().workers;
        if (now != admission_result::full && (now != admission_result::no_thread || workers == 0)) {
            return now;
        }
        // The wait ends by room, a changed setting, a worker that left, shutdown or stop.
        const std::size_t enough =
            now == admission_result::no_thread ? workers : pool_.settings.maximum_size();
        const auto try_again = [&] {
            const pool_control c = pool_.control.load();
            return !accepts_tasks(c.state) || c.workers < enough || pool_.settings.version() != version;
        };
        const ticket mine = pool_.backlog.ticket_of(work);
        const auto wait = [&](task_backlog::sleeper sleep) {
            return until.is_never() ? deadlock_watch::wait(pool_, blocked_wait::what::room, stop, sleep)
                                    : sleep({.until = until, .stop = stop});
        };
        const auto blocked_since = task_meter::clock::now();
        const wait_result how = pool_.backlog.offer_when_room(work, try_again, wait);
        pool_.meter.add_blocked(task_meter::clock::now() - blocked_since);
        if (how == wait_result::ready) {
            return finish(work, mine, admitted::look_again, error);
        }
        if (how == wait_result::interrupted) {
            throw interrupted(pool_.config.label + ": stop requested while waiting for room");
        }
        if (how == wait_result::timed_out) {
            return admission_result::timed_out;
        }
    }
}

template <class Pool>
void admission_path<Pool>::execute_all(std::span<task> work) {
    while (!work.empty()) {
        const bool queue_next =
            admission::on_arrival(pool_.control.load(), pool_.settings.sizes()) == admission::arrival::offer;
        const std::size_t taken = queue_next ? offer_some(work) : 0;
        if (taken == 0) {                        // the task starts a worker, or is refused
            task one = std::move(work.front());  // consumed, also if execute() throws
            execute(std::move(one));
        }
        work = work.subspan(std::max<std::size_t>(taken, 1));
    }
}

// Step 2 of execute() for several tasks. Returns how many the queue took; the rest are unchanged.
template <class Pool>
std::size_t admission_path<Pool>::offer_some(std::span<task> work) {
    work = work.first(std::min<std::size_t>(work.size(), 256));  // bounds `entries`
    struct entry {
        ticket mine;
        admission_result late = admission_result::accepted;
    };
    calls_under_way::entry call = enter_call();
    std::vector<entry> entries;
    std::size_t published = 0;
    std::size_t taken = 0;
    const auto withdraw = [this](std::span<task> tasks) {
        for (task& one : tasks) {
            static_cast<void>(pool_.backlog.try_withdraw(one));
        }
    };
    try {
        entries.reserve(work.size());
        for (; published < work.size(); ++published) {
            entries.push_back({pool_.backlog.publish(work[published])});
        }
        SPOOL_PAUSE_POINT("execute_all: about to offer");
        taken = pool_.backlog.offer_some(work);
    } catch (...) {
        // The queue threw, or there is no memory. The tasks that the queue took are empty by now.
        while (taken < published && work[taken].empty()) {
            ++taken;
        }
        if (taken == 0) {
            withdraw(work.first(published));
            work.front().clear();  // the one that threw is consumed, those after it are untouched
            throw;
        }
    }
    withdraw(work.subspan(taken, published - taken));
    std::exception_ptr error;
    // The second look at the control word: once for all tasks, unless the word has changed.
    if (taken != 0 &&
        admission::after_offer(pool_.control.load(), pool_.settings.sizes()) != admission::offered::done) {
        // Takes all tasks back before it refuses the first: a refusal may throw, and then none may
        // be left in the queue. Takes the last back first: meanwhile workers dequeue from the
        // front, so the refused tasks are the last ones.
        for (std::size_t i = taken; i-- > 0;) {
            entries[i].late = finish(work[i], entries[i].mine, admitted::look_again, error);
        }
        call.end();
        for (std::size_t i = 0; i < taken; ++i) {
            rejection_path{pool_}.refuse(std::move(work[i]), entries[i].late, error);
        }
    }
    return taken;
}

// The handshake is that of recheck().
template <class Pool>
bool admission_path<Pool>::requeue(task_type& work, function_ref<bool(run_state)> may_run) {
    if (!may_run(pool_.control.load().state)) {
        return false;
    }
    const ticket mine = pool_.backlog.ticket_of(work);
    if (!pool_.backlog.offer(work)) {
        return false;
    }
    SPOOL_PAUSE_POINT("requeue: offered");
    if (const run_state now = pool_.control.load().state; !may_run(now)) {
        if (std::optional<task> back = take_back_if_possible(mine)) {
            work = *std::move(back);
            try_terminate();
            return false;
        }
        return true;  // a worker has the task, or it was handed back or cancelled meanwhile
    }
    if (pool_.control.load().workers < std::max<std::size_t>(pool_.settings.core_size(), 1)) {
        // A failure does no harm: the caller is a worker, or the pool has other workers, or
        // close() runs the task.
        std::exception_ptr error;
        try_start(nullptr, start_bound::core_size_or_one, error);
    }
    return true;
}

template <class Pool>
bool admission_path<Pool>::try_requeue(task_type& work) {
    const ticket mine = pool_.backlog.ticket_of(work);
    std::exception_ptr error;
    return pool_.backlog.offer(work) && recheck(work, mine, error) == admission_result::accepted;
}

// ---- Removing tasks

template <class Pool>
bool admission_path<Pool>::remove(task_id id) {
    const bool removed = pool_.backlog.take_back({id, ticket::any}).has_value();
    pool_.meter.count_taken_out(removed ? 1 : 0);
    try_terminate();
    return removed;
}

template <class Pool>
std::size_t admission_path<Pool>::purge() {
    const std::size_t cancelled = pool_.backlog.purge();
    pool_.meter.count_taken_out(cancelled);
    try_terminate();
    return cancelled;
}

template class admission_path<detail::pool>;

}  // namespace spool::inline v1
