// A task arrives: execute() in its three steps, and what may go wrong in between.
#include <algorithm>
#include <new>
#include <utility>

#include "pool/deadlock_watch.hpp"
#include "pool/hot_path.hpp"
#include "pool/pool.hpp"
#include "spool/detail/pause_point.hpp"

namespace spool::inline v1 {

void detail::pool::throw_empty() const {
    detail::throw_empty_callable(config.label);
}

void detail::pool::execute(task&& work) {
    calls_under_way::entry call = enter_call();
    const way_in way = admit_quickly(work);
    if (way.how != quick_result::accepted) [[unlikely]] {
        call.end();
        execute_at_length(work, way);
    }
}

// The slow path. Out of line, so that execute() stays short.
[[gnu::noinline]] void detail::pool::execute_at_length(task& work, way_in way) {
    if (way.how == quick_result::not_simple) {
        require(work);
    }
    std::exception_ptr start_error;
    calls_under_way::entry call = enter_call();
    const admission_result how = go_on(work, way, start_error);
    call.end();
    if (how != admission_result::accepted) {
        refuse(std::move(work), how, start_error);
    }
}

[[gnu::noinline]] bool detail::pool::takes_at_length(task& work, way_in way) {
    std::exception_ptr start_error;
    return go_on(work, way, start_error) == admission_result::accepted;
}

// Continues on the slow path after the fast path gave up.
admission_result detail::pool::go_on(task& work, way_in way, std::exception_ptr& start_error) {
    switch (way.how) {
        case quick_result::accepted: return admission_result::accepted;
        case quick_result::refused: return steps().refused_by_queue(work, start_error);
        case quick_result::look_again: return recheck(work, plain_ticket(way.id), start_error);
        case quick_result::not_simple: break;
    }
    return try_execute(work, start_error);
}

void detail::pool::refuse(task&& work, admission_result how, const std::exception_ptr& start_error) {
    switch (how) {
        case admission_result::accepted: return;
        case admission_result::full:
        case admission_result::timed_out: reject(std::move(work), rejection_reason::full); return;
        case admission_result::shut_down: reject(std::move(work), rejection_reason::shut_down); return;
        case admission_result::no_thread: break;
    }
    if (start_error != nullptr) {
        const task refused = std::move(work);  // consumed, as a policy would
        count_rejection(refused, rejection_reason::no_thread);
        rethrow_start_error(start_error);
    }
    reject(std::move(work), rejection_reason::no_thread);
}

void detail::pool::execute_all(std::span<task> work) {
    while (!work.empty()) {
        const bool queue_next =
            admission::on_arrival(control.load(), settings.sizes()) == admission::arrival::offer;
        const std::size_t taken = queue_next ? offer_some(work) : 0;
        if (taken == 0) {                        // the task starts a worker, or is refused
            task one = std::move(work.front());  // consumed, also if execute() throws
            execute(std::move(one));
        }
        work = work.subspan(std::max<std::size_t>(taken, 1));
    }
}

// Step 2 of execute() for several tasks. Returns how many the queue took; the rest are unchanged.
std::size_t detail::pool::offer_some(std::span<task> work) {
    work = work.first(std::min<std::size_t>(work.size(), 256));  // bounds `entries`
    struct entry {
        ticket mine;
        admission_result late = admission_result::accepted;
    };
    calls_under_way::entry call = enter_call();
    std::vector<entry> entries;
    std::size_t prepared = 0;
    std::size_t taken = 0;
    try {
        entries.reserve(work.size());
        for (; prepared < work.size(); ++prepared) {
            backlog.publish(work[prepared]);
            entries.push_back({ticket_of(work[prepared])});
        }
        SPOOL_PAUSE_POINT("execute_all: about to offer");
        taken = backlog.offer_some(work);
    } catch (...) {
        // The queue threw, or there is no memory. The tasks that the queue took are empty by now.
        while (taken < prepared && work[taken].empty()) {
            ++taken;
        }
        if (taken == 0) {
            for (task& one : work.first(prepared)) {
                static_cast<void>(backlog.try_withdraw(one));
            }
            work.front().clear();  // the one that threw is consumed, those after it are untouched
            throw;
        }
    }
    for (task& one : work.subspan(taken, prepared - taken)) {
        static_cast<void>(backlog.try_withdraw(one));
    }
    std::exception_ptr start_error;
    // The second look at the control word: once for all tasks, unless the word has changed.
    if (taken != 0 && admission::after_offer(control.load(), settings.sizes()) != admission::offered::done) {
        // Takes all tasks back before it refuses the first: a refusal may throw, and then none may
        // be left in the queue. Takes the last back first: meanwhile workers dequeue from the
        // front, so the refused tasks are the last ones.
        for (std::size_t i = taken; i-- > 0;) {
            entries[i].late = recheck(work[i], entries[i].mine, start_error);
            if (entries[i].late != admission_result::accepted && !backlog.try_withdraw(work[i])) {
                entries[i].late = admission_result::accepted;
            }
        }
        call.end();
        for (std::size_t i = 0; i < taken; ++i) {
            refuse(std::move(work[i]), entries[i].late, start_error);
        }
    }
    return taken;
}

admission_result detail::pool::try_execute(task& work, std::exception_ptr& start_error) {
    backlog.publish(work);
    admission_result answer = admission_result::accepted;
    try {
        answer = admit(work, start_error);
    } catch (...) {  // from the queue: nothing has changed, unless the queue holds the task
        if (!work.empty() && backlog.try_withdraw(work)) {
            throw;
        }
        config.report_queue_failure();
    }
    return answer == admission_result::accepted || backlog.try_withdraw(work) ? answer
                                                                              : admission_result::accepted;
}

admission_result detail::pool::admit(task& work, std::exception_ptr& start_error) {
    return steps().admit(work, start_error);
}

// The second half of the handshake, after a successful offer; see pool_steps.hpp.
admission_result detail::pool::recheck(task& work, const ticket& mine, std::exception_ptr& start_error) {
    return steps().recheck(work, mine, start_error);
}

// A task is accepted or not, never in between. If the queue throws twice, the task stays in the
// queue and counts as accepted. A pool that has ended meanwhile destroys the task with its queue,
// as it does with tasks that shutdown_now() could not drain.
std::optional<task> detail::pool::take_back_if_possible(const ticket& wanted) noexcept {
    for (int attempt = 0; attempt < 2; ++attempt) {
        try {
            return backlog.take_back(wanted);
        } catch (...) {
            config.report_queue_failure();
        }
    }
    return std::nullopt;
}

admission_result detail::pool::execute_until(task& work, deadline until, const std::stop_token& stop) {
    std::exception_ptr start_error;
    for (;;) {
        const std::uint64_t version = settings.version();
        const admission_result now = try_execute(work, start_error);
        const std::size_t workers = control.load().workers;
        if (now != admission_result::full && (now != admission_result::no_thread || workers == 0)) {
            return now;
        }
        // The wait ends by room, a changed setting, a worker that left, shutdown or stop.
        const std::size_t enough = now == admission_result::no_thread ? workers : settings.maximum_size();
        const auto try_again = [&] {
            const pool_control c = control.load();
            return !accepts_tasks(c.state) || c.workers < enough || settings.version() != version;
        };
        const ticket mine = ticket_of(work);
        const wait_result how = backlog.offer_when_room(work, try_again, [&](task_backlog::sleeper sleep) {
            return until.is_never() ? deadlock_watch::wait(*this, blocked_wait::what::room, stop, sleep)
                                    : sleep({.until = until, .stop = stop});
        });
        if (how == wait_result::ready) {
            const admission_result late = recheck(work, mine, start_error);
            return late == admission_result::accepted || backlog.try_withdraw(work)
                       ? late
                       : admission_result::accepted;
        }
        if (how == wait_result::interrupted) {
            throw interrupted(config.label + ": stop requested while waiting for room");
        }
        if (how == wait_result::timed_out) {
            return admission_result::timed_out;
        }
    }
}

// Requeues a task of this pool that runs again. Returns false if the task may not run again; `work`
// is then untouched. The handshake is that of recheck().
bool detail::pool::requeue(task& work, function_ref<bool(run_state)> may_run) {
    if (!may_run(control.load().state)) {
        return false;
    }
    const ticket mine = ticket_of(work);
    if (!backlog.offer(work)) {
        return false;
    }
    SPOOL_PAUSE_POINT("requeue: offered");
    if (const run_state now = control.load().state; !may_run(now)) {
        if (std::optional<task> back = take_back_if_possible(mine)) {
            work = *std::move(back);
            try_terminate();
            return false;
        }
        return true;  // a worker has the task, or it was handed back or cancelled meanwhile
    }
    if (control.load().workers < std::max<std::size_t>(settings.core_size(), 1)) {
        // A failure does no harm: the caller is a worker, or the pool has other workers, or
        // close() runs the task.
        std::exception_ptr error;
        start_worker(nullptr, bound::core_size_or_one, error);
    }
    return true;
}

// ---- Removing tasks

bool detail::pool::remove(task_id id) {
    const bool removed = backlog.take_back({id, std::nullopt}).has_value();
    try_terminate();
    return removed;
}

std::size_t detail::pool::purge() {
    const std::size_t cancelled = backlog.purge();
    try_terminate();
    return cancelled;
}

}  // namespace spool::inline v1
