#include "verdict.hpp"

#include <string>

#include "support/eventually.hpp"

namespace soak {
namespace {

std::string name_of(const entry& e) {
    return "task " + std::to_string(e.number) + " (" + to_string(e.by) + ", pool " + std::to_string(e.pool) +
           ", depth " + std::to_string(e.depth) + ") ";
}

std::string times(const char* what, int n) {
    return std::string{what} + " " + std::to_string(n) + (n == 1 ? " time" : " times");
}

bool is_refused(const entry& e) {
    return e.told_submitter == answer::counted || e.told_submitter == answer::uncounted;
}

// Whether it is known why the task has not run. A delayed or periodic task may end with its pool.
bool has_reason(const entry& e) {
    const bool ended_with_pool = (e.by == way::once || e.by == way::periodic) && e.published &&
                                 (e.series.valid() ? e.series.is_cancelled() : e.result.is_cancelled());
    return ended_with_pool || e.told_submitter != answer::none || e.handed_back != 0 || e.removed != 0 ||
           e.cancelled != 0 || e.skipped != 0 || e.reported != 0 || e.by == way::child;
}

void judge_life(world& in, const entry& e) {
    const bool series = e.by == way::periodic;
    const auto wrong = [&](const std::string& what) { in.report(name_of(e) + what); };
    if (e.made != e.gone) {
        wrong(times("was made", e.made) + " and " + times("destroyed", e.gone));
    }
    if (e.overlapped != 0 || e.inside != 0) {
        wrong("ran beside itself, or still runs");
    }
    if (!series && e.calls > 1) {
        wrong(times("ran", e.calls));
    }
    if (is_refused(e) && e.calls != 0) {
        wrong("was refused and ran all the same");
    }
    if (e.removed > 1 || e.handed_back > 1 || e.cancelled > 1 || e.skipped > 1 + e.calls ||
        e.removed + e.handed_back > 1) {
        wrong(times("was removed", e.removed) + ", " + times("handed back", e.handed_back) + ", " +
              times("cancelled", e.cancelled) + ", " + times("skipped", e.skipped));
    }
    const bool taken_out = e.removed != 0 || (e.handed_back != 0 && e.called_back == 0) || e.skipped != 0;
    if (!series && taken_out && e.calls != 0) {
        wrong("was taken out, or skipped, and ran all the same");
    }
}

void judge_future(world& in, const entry& e) {
    const auto wrong = [&](const std::string& what) { in.report(name_of(e) + what); };
    const bool done = e.series.valid() ? e.series.is_done() : e.result.is_done();
    if (!done) {
        wrong("has a future that is not done");
        return;
    }
    if (e.wants_told && e.told != 1) {
        wrong(times("told of its end", e.told));
    }
    if (e.series.valid()) {
        if (e.series.run_count() != static_cast<std::uint64_t>(e.calls)) {
            wrong(times("ran", e.calls) + ", but its future says " + std::to_string(e.series.run_count()));
        }
        return;
    }
    switch (e.result.state()) {
        case spool::future_state::succeeded:
            if (e.calls != 1 || e.result.get() != static_cast<int>(e.number)) {
                wrong("succeeded after " + std::to_string(e.calls) + " calls, with " +
                      std::to_string(e.result.get()));
            }
            break;
        case spool::future_state::failed:
            if (e.threw != 1) {
                wrong("failed, but its body has not");
            }
            break;
        default:
            if (e.calls != 0 && e.cancelled == 0) {
                wrong("is cancelled though it ran and nobody cancelled it");
            }
            break;
    }
}

struct sums {
    std::uint64_t ran = 0;         // by a worker, as its task or as a refused submitter
    std::uint64_t skipped = 0;     // skipped by a hook, but completed
    std::uint64_t perhaps = 0;     // may be completed without a run: dequeued after a cancel
    std::uint64_t refused = 0;     // certainly counted as rejected
    std::uint64_t not_worker = 0;  // may have been counted as rejected
    std::uint64_t lost = 0;        // did not run, for no known reason
};

sums add_up(const world& in, const slot& where) {
    sums s;
    for (std::size_t i = 0; i < in.tasks.size(); ++i) {
        const entry& e = *in.tasks.at(i);
        if (e.pool != where.index) {
            continue;
        }
        s.ran += static_cast<std::uint64_t>(e.on_worker + e.refused_on_worker);
        s.skipped += static_cast<std::uint64_t>(e.skipped);
        const bool polled_only = e.calls == 0 && e.skipped == 0 && !is_refused(e) && e.handed_back == 0;
        s.perhaps += polled_only || e.by == way::periodic ? 1 : 0;
        s.refused += e.told_submitter == answer::counted ? 1 : 0;
        // A series that was refused, and that the test then called, continues in the pool. The pool
        // counts a task that a policy ran on the pool's own worker as rejected and as completed.
        const bool may_be_rejected = e.on_worker == 0 || e.refused_on_worker != 0 || e.by == way::periodic;
        s.not_worker += may_be_rejected ? 1 : 0;
        s.lost += e.calls == 0 && !has_reason(e) && !where.discards ? 1 : 0;
    }
    s.perhaps += where.untracked;
    s.not_worker += where.untracked;
    return s;
}

// Returns an empty string if the numbers agree with each other and with the ledger.
std::string contradiction(const world& in, const slot& where, const spool::pool_snapshot& s) {
    const std::string numbers = " (" + to_string(s) + ", tasks " + std::to_string(s.tasks) + ")";
    if (s.tasks != s.completed + s.active + s.queued) {
        return "the tasks are not those completed, running and queued" + numbers;
    }
    const sums sum = add_up(in, where);
    const std::uint64_t least = sum.ran + sum.skipped;
    if (s.completed < least || s.completed > least + sum.perhaps) {
        return "workers ran " + std::to_string(sum.ran) + " tasks and skipped " +
               std::to_string(sum.skipped) + ", and " + std::to_string(sum.perhaps) +
               " may have been polled when cancelled" + numbers;
    }
    return {};
}

void judge_end(world& in, const slot& where) {
    const auto wrong = [&](const std::string& what) {
        in.report("pool " + std::to_string(where.index) + ": " + what);
    };
    const sums sum = add_up(in, where);
    if (where.last.has_value()) {
        const spool::pool_snapshot& s = *where.last;
        if (const std::string problem = contradiction(in, where, s); !problem.empty()) {
            wrong(problem);
        }
        if (s.state != spool::run_state::terminated || s.queued != 0 || s.active != 0 || s.pool_size != 0 ||
            s.largest_pool_size > 6) {
            wrong("is not at its end: " + to_string(s));
        }
        if (s.rejected < sum.refused + sum.lost || s.rejected > sum.not_worker) {
            wrong(std::to_string(sum.refused) + " submitters were told of a refusal, " +
                  std::to_string(sum.lost) + " tasks were lost, but it has counted " +
                  std::to_string(s.rejected) + " of at most " + std::to_string(sum.not_worker));
        }
        if (where.hooked && s.rejected != static_cast<std::uint64_t>(where.reported)) {
            wrong(times("the hook was told of a refusal", where.reported) + ", counted are " +
                  std::to_string(s.rejected));
        }
    }
    if (where.hooked && sum.lost != 0) {
        wrong(std::to_string(sum.lost) + " tasks were lost: none of them ran, and nobody was told why");
    }
    if (where.threads_begun != where.threads_ended) {
        wrong(times("a thread began", where.threads_begun) + ", ended " +
              std::to_string(where.threads_ended));
    }
    if (where.hooked && (where.workers_started != where.workers_stopped || where.terminations != 1 ||
                         where.late_stops != 0)) {
        wrong(times("workers started", where.workers_started) + ", " +
              times("stopped", where.workers_stopped) + " (" + std::to_string(where.late_stops) +
              " after the end), " + times("terminated", where.terminations));
    }
}

}  // namespace

// Looks more than once: a task that a worker has dequeued but not started is neither queued nor
// active, so an idle snapshot does not prove that the pool is at rest.
void judge_at_rest(world& in, const slot& where, const spool::thread_pool_executor& pool) {
    std::string problem;
    const bool agree = test::eventually([&] {
        problem = contradiction(in, where, pool.snapshot());
        return problem.empty();
    });
    if (!agree) {
        in.report("pool " + std::to_string(where.index) + ", at rest: " + problem);
    }
}

void judge_round(world& in) {
    for (std::size_t i = 0; i < in.tasks.size(); ++i) {
        const entry& e = *in.tasks.at(i);
        judge_life(in, e);
        if (e.published) {
            judge_future(in, e);
        }
    }
    for (const auto& where : in.slots) {
        judge_end(in, *where);
    }
}

}  // namespace soak
