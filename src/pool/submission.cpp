// A task comes: execute() in its three steps, and what may go wrong in between.
#include <algorithm>
#include <new>
#include <utility>

#include "pool/deadlock_watch.hpp"
#include "pool/hot_path.hpp"
#include "pool/pool_core.hpp"
#include "pool/timed_body.hpp"
#include "spool/base/pause_point.hpp"

namespace spool::inline v1 {

// What must be known before anybody else can see the task. Tasks with a due time are never claimed by waiters.
void thread_pool_executor::core::prepare(task& work) const {
    wrap(work);  // first: it is what may throw
    if (const future_link link{work}; link) {
        if (const auto* timed = task_times_ ? work.target<timed_body>() : nullptr) {
            link.set_submitted(timed->submitted());
        }
        if (work.due() == due_time::min()) {
            static_cast<void>(link.set_home(this));
        } else {
            link.set_keeper(this);
        }
    }
}

void thread_pool_executor::core::wrap(task& work) const {
    // What comes to a derived pool with a due time has waited since then.
    if (task_times_ && !(queue_first_ && work.due() != due_time::min())) {
        timed_body timed{work};
        work = task{std::move(timed)};                                      // fits inline: cannot throw
        detail::hand_over_in_library(detail::sanitizer_key_of(work.id()));  // with the memory of the wrapper
    }
}

void thread_pool_executor::core::unwrap(task& work) {
    if (auto* timed = work.target<timed_body>()) {
        work = timed->release();
    }
}

// Makes a task that was not taken as it came. False: a worker that waits for it has begun to run it meanwhile, so it was taken.
bool thread_pool_executor::core::unprepare(task& work) {
    unwrap(work);
    if (const future_link link{work}; link && !link.set_home(nullptr)) {
        drop_husk();
        work = nullptr;
        return false;
    }
    return true;
}

void thread_pool_executor::core::throw_empty() const {
    detail::throw_empty_callable("thread_pool_executor \"" + name_ + "\"");
}

void thread_pool_executor::core::execute(task&& work) {
    calls_under_way::entry call = enter_call();
    const way_in way = admit_quickly(work);
    if (way.how != quick_result::accepted) [[unlikely]] {
        call.end();
        execute_at_length(work, way);
    }
}

// Out of line, so that the short way stays short.
[[gnu::noinline]] void thread_pool_executor::core::execute_at_length(task& work, way_in way) {
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

[[gnu::noinline]] bool thread_pool_executor::core::takes_at_length(task& work, way_in way) {
    std::exception_ptr start_error;
    return go_on(work, way, start_error) == admission_result::accepted;
}

// From where the short way has ended.
admission_result thread_pool_executor::core::go_on(task& work, way_in way, std::exception_ptr& start_error) {
    switch (way.how) {
        case quick_result::accepted: return admission_result::accepted;
        case quick_result::refused: return steps().refused_by_queue(work, start_error);
        case quick_result::look_again: return recheck(work, plain_ticket(way.id), start_error);
        case quick_result::not_simple: break;
    }
    return try_execute(work, start_error);
}

void thread_pool_executor::core::refuse(task&& work, admission_result how,
                                        const std::exception_ptr& start_error) {
    switch (how) {
        case admission_result::accepted: return;
        case admission_result::full:
        case admission_result::timed_out: reject(std::move(work), rejection_reason::full); return;
        case admission_result::shut_down: reject(std::move(work), rejection_reason::shut_down); return;
        case admission_result::no_thread: break;
    }
    if (start_error != nullptr) {
        const task refused = std::move(work);  // consumed, as by a policy
        count_rejection(refused, rejection_reason::no_thread);
        rethrow_start_error(start_error);
    }
    reject(std::move(work), rejection_reason::no_thread);
}

void thread_pool_executor::core::execute_all(std::span<task> work) {
    while (!work.empty()) {
        const bool queue_next = admission::on_arrival(control(), sizes()) == admission::arrival::offer;
        const std::size_t taken = queue_next ? offer_some(work) : 0;
        if (taken == 0) {                        // it makes a worker start, or is refused
            task one = std::move(work.front());  // and then consumed, whatever throws
            execute(std::move(one));
        }
        work = work.subspan(std::max<std::size_t>(taken, 1));
    }
}

// Step 2 of execute() for several; how many are in. The rest are as they came.
std::size_t thread_pool_executor::core::offer_some(std::span<task> work) {
    work = work.first(std::min<std::size_t>(work.size(), 256));  // ids are kept aside for the second look
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
            prepare(work[prepared]);
            entries.push_back({ticket_of(work[prepared])});
        }
        SPOOL_PAUSE_POINT("execute_all: about to offer");
        taken = queue_->offer_some(work);
    } catch (...) {
        // From the queue, or for want of memory: those that are in have left their place empty.
        while (taken < prepared && work[taken].empty()) {
            ++taken;
        }
        if (taken == 0) {
            for (task& one : work.first(prepared)) {
                static_cast<void>(unprepare(one));
            }
            work.front().clear();  // the one that threw is consumed, those after it are untouched
            throw;
        }
    }
    for (task& one : work.subspan(taken, prepared - taken)) {
        static_cast<void>(unprepare(one));
    }
    std::exception_ptr start_error;
    // The second look: one for all, unless something has changed.
    if (taken != 0 && admission::after_offer(control(), sizes()) != admission::offered::done) {
        // All come back to their places before the first is refused: if that throws, none may be left in the queue. The last first: workers take
        // the others meanwhile, and those that are refused are to be the last ones.
        for (std::size_t i = taken; i-- > 0;) {
            entries[i].late = recheck(work[i], entries[i].mine, start_error);
            if (entries[i].late != admission_result::accepted && !unprepare(work[i])) {
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

admission_result thread_pool_executor::core::try_execute(task& work, std::exception_ptr& start_error) {
    prepare(work);
    admission_result answer = admission_result::accepted;
    try {
        answer = admit(work, start_error);
    } catch (...) {  // from the queue: nothing has changed, unless the task is in it
        if (!work.empty() && unprepare(work)) {
            throw;
        }
        report_queue_failure();
    }
    return answer == admission_result::accepted || unprepare(work) ? answer : admission_result::accepted;
}

admission_result thread_pool_executor::core::admit(task& work, std::exception_ptr& start_error) {
    return steps().admit(work, start_error);
}

// A husk must not take a place that a task could have.
bool thread_pool_executor::core::offer_without_husks(task& work) {
    return sweep_husks() && queue_->offer(std::move(work));
}

// After a successful offer: the handshake of pool_steps.hpp.
admission_result thread_pool_executor::core::recheck(task& work, const ticket& mine,
                                                     std::exception_ptr& start_error) {
    return steps().recheck(work, mine, start_error);
}

auto thread_pool_executor::core::ticket_of(const task& work) -> ticket {
    const future_link link{work};
    return {work.id(), link ? link.runs() : 0};
}

std::optional<task> thread_pool_executor::core::take_back(const ticket& wanted) {
    std::vector<task> found = queue_->take_if([&wanted](const task& t) {
        const future_link link{t};
        return t.id() == wanted.id && (!link || !wanted.runs.has_value() || link.runs() == *wanted.runs);
    });
    if (found.empty()) {
        return std::nullopt;
    }
    if (const future_link link{found.front()}; link && !link.take_home_away()) {
        drop_husk();
        return std::nullopt;
    }
    return std::move(found.front());
}

// Accepted or not, never in between: if the queue throws twice, the task stays in it, and is accepted. A pool that has
// ended meanwhile destroys the task with its queue, as it does with tasks that shutdown_now() could not drain.
std::optional<task> thread_pool_executor::core::take_back_if_possible(const ticket& wanted) noexcept {
    for (int attempt = 0; attempt < 2; ++attempt) {
        try {
            return take_back(wanted);
        } catch (...) {
            report_queue_failure();
        }
    }
    return std::nullopt;
}

// Inside a handler, for a call that must go on: tells of what a user's queue or comparator threw. Want of memory is no news.
void thread_pool_executor::core::report_queue_failure() const noexcept {
    try {
        throw;
    } catch (const std::bad_alloc&) {
    } catch (...) {
        report(std::current_exception());
    }
}

// True if that made room.
bool thread_pool_executor::core::sweep_husks() {
    if (husks_.load() <= 0) {
        return false;
    }
    const std::vector<task> husks = queue_->take_if([](const task& t) {
        const future_link link{t};
        return link && link.is_husk();
    });
    husks_.fetch_sub(static_cast<std::ptrdiff_t>(husks.size()));
    return !husks.empty();
}

admission_result thread_pool_executor::core::execute_until(task& work, deadline until,
                                                           const std::stop_token& stop) {
    std::exception_ptr start_error;
    for (;;) {
        const std::uint64_t version = settings_version_.load();
        const admission_result now = try_execute(work, start_error);
        const std::size_t workers = control().workers;
        if (now != admission_result::full && (now != admission_result::no_thread || workers == 0)) {
            return now;
        }
        // Woken by room, a changed setting, a worker that left, shutdown and stop.
        const std::size_t enough = now == admission_result::no_thread ? workers : maximum_size_.load();
        const auto try_again = [&] {
            const pool_control c = control();
            return !accepts_tasks(c.state) || c.workers < enough || settings_version_.load() != version;
        };
        // Not in the queue yet, so nobody may claim it; it gets its home when it is in.
        const ticket mine = ticket_of(work);
        const late_home home{work};
        wrap(work);
        wait_result how = wait_result::gave_up;
        try {
            const auto sleep = [&](const wait_limits& limits) {
                return queue_->push_until(work, limits, try_again);
            };
            how = until.is_never() ? deadlock_watch::wait(*this, blocked_wait::what::room, stop, sleep)
                                   : sleep({.until = until, .stop = stop});
        } catch (...) {  // from the queue: nothing has changed
            unwrap(work);
            throw;
        }
        if (how == wait_result::ready) {
            SPOOL_PAUSE_POINT("execute_for: in the queue, without a home");
            home.set(this);
            const admission_result late = recheck(work, mine, start_error);
            return late == admission_result::accepted || unprepare(work) ? late : admission_result::accepted;
        }
        unwrap(work);
        if (how == wait_result::interrupted) {
            throw interrupted("thread_pool_executor \"" + name_ +
                              "\": stop requested while waiting for room");
        }
        if (how == wait_result::timed_out) {
            return admission_result::timed_out;
        }
    }
}

// A task of this pool that runs again goes back. False: not any more; `work` is untouched. The handshake is that of recheck().
bool thread_pool_executor::core::requeue(task& work, function_ref<bool(run_state)> may_run) {
    if (!may_run(control().state)) {
        return false;
    }
    const ticket mine = ticket_of(work);
    if (!queue_->offer(std::move(work))) {
        return false;
    }
    SPOOL_PAUSE_POINT("requeue: offered");
    if (const run_state now = control().state; !may_run(now)) {
        if (std::optional<task> back = take_back_if_possible(mine)) {
            work = *std::move(back);
            try_terminate();
            return false;
        }
        return true;  // a worker has it, or it was handed back or cancelled meanwhile
    }
    if (control().workers < std::max<std::size_t>(core_size_.load(), 1)) {
        // It may fail: whoever runs this is a worker, or the pool has others, or close() sees to it.
        std::exception_ptr error;
        start_worker(nullptr, bound::core_size_or_one, error);
    }
    return true;
}

// ---- Taking out

bool thread_pool_executor::core::contains(task_id id) const {
    return queue_->contains([id](const task& t) {
        const future_link link{t};
        return t.id() == id && (!link || !link.is_husk());
    });
}

bool thread_pool_executor::core::remove(task_id id) {
    const bool removed = take_back({id, std::nullopt}).has_value();
    try_terminate();
    return removed;
}

std::size_t thread_pool_executor::core::purge() {
    const std::vector<task> gone = queue_->take_if([](const task& t) {
        const future_link link{t};
        return link ? link.is_husk() || link.is_cancelled() : t.is_cancelled();
    });
    std::size_t cancelled = 0;
    for (const task& t : gone) {
        if (const future_link link{t}; !link || link.claim(this)) {
            ++cancelled;
        } else {
            drop_husk();
        }
    }
    try_terminate();
    return cancelled;
}

}  // namespace spool::inline v1
