#include "submissions.hpp"

#include <chrono>
#include <optional>
#include <span>
#include <thread>

#include "body.hpp"

namespace soak {
namespace {

using namespace std::chrono_literals;
using spool::admission_result;
using spool::task;

// Marks an entry while this thread submits it, so that a body can tell whether it runs inside that
// call.
class submitting {
public:
    explicit submitting(entry& e) : entry_(e) { entry_.submitting = this_thread_mark(); }
    submitting(const submitting&) = delete;
    submitting& operator=(const submitting&) = delete;
    ~submitting() { entry_.submitting = nullptr; }

private:
    entry& entry_;
};

// Returns what the current exception says about the task. Must be called in a handler.
answer judge(world& in, const entry& e) {
    if (e.in_submit.load() != 0) {  // the task's own exception: the submitter ran it
        return answer::none;
    }
    if (e.calls.load() != 0) {
        in.report("task " + std::to_string(e.number) + " (" + to_string(e.by) +
                  ") runs though its submission has thrown");
    }
    try {
        throw;
    } catch (const spool::rejected_execution&) {
        return answer::counted;
    } catch (const spool::interrupted&) {
        return answer::uncounted;
    } catch (...) {  // thrown by a hook, a policy or a factory
        return answer::unclear;
    }
}

void publish(entry& e, spool::future<int> result) {
    e.id = result.id();
    e.result = std::move(result);
    e.wants_told = e.script % 3 == 0;
    if (e.wants_told) {
        e.result.on_done([&e] { ++e.told; });
    }
    e.published = true;
}

void execute(const place& at, entry& e, spool::thread_pool_executor& pool) {
    task work = with_body(at.in, e, [](auto&& b) { return task{std::move(b)}; });
    e.id = work.id();
    const submitting mark{e};
    try {
        if (e.by == way::execute) {
            pool.execute(std::move(work));
            return;
        }
        const auto limit = std::chrono::microseconds{at.chance.below(1500)};
        const admission_result how = e.by == way::try_execute ? pool.try_execute(std::move(work))
                                                              : pool.execute_for(std::move(work), limit);
        if (how != admission_result::accepted) {
            e.told_submitter = answer::uncounted;
        }
        if ((how == admission_result::accepted) != work.empty()) {
            at.in.report("task " + std::to_string(e.number) + ": the answer and what is left of it differ");
        }
    } catch (...) {
        e.told_submitter = judge(at.in, e);
    }
}

void submit(const place& at, entry& e, spool::thread_pool_executor& pool) {
    const submitting mark{e};
    try {
        publish(e, with_body(at.in, e, [&](auto&& b) { return pool.submit(std::move(b)); }));
    } catch (...) {
        e.told_submitter = judge(at.in, e);
    }
}

// The exception does not tell which task was refused. Tasks that are not empty were not accepted.
void execute_all(const place& at, const std::vector<entry*>& entries, spool::thread_pool_executor& pool) {
    std::vector<task> work;
    for (entry* e : entries) {
        work.push_back(with_body(at.in, *e, [](auto&& b) { return task{std::move(b)}; }));
        e->id = work.back().id();
        e->submitting = this_thread_mark();
    }
    try {
        pool.execute_all(std::span<task>{work});
    } catch (...) {
        for (std::size_t i = 0; i < entries.size(); ++i) {
            entries[i]->told_submitter = work[i].empty() ? answer::unclear : answer::uncounted;
        }
    }
    for (entry* e : entries) {
        e->submitting = nullptr;
    }
}

void submit_all(const place& at, const std::vector<entry*>& entries, spool::thread_pool_executor& pool) {
    std::vector<body<false, 64>> bodies;
    bodies.reserve(entries.size());
    for (entry* e : entries) {
        bodies.emplace_back(at.in, *e);
        e->submitting = this_thread_mark();
    }
    try {
        std::vector<spool::future<int>> results = pool.submit_all(std::move(bodies));
        for (std::size_t i = 0; i < entries.size(); ++i) {
            publish(*entries[i], std::move(results[i]));
        }
    } catch (...) {
        for (entry* e : entries) {
            e->told_submitter = answer::unclear;
        }
    }
    for (entry* e : entries) {
        e->submitting = nullptr;
    }
}

// Gives some tasks of a delay queue a due time a little later.
void set_due(const place& at, entry& e, spool::thread_pool_executor& pool) {
    if (dynamic_cast<spool::delay_queue<task>*>(&pool.queue()) != nullptr && at.chance.one_in(2)) {
        e.due = std::chrono::steady_clock::now() + std::chrono::microseconds{at.chance.below(1500)};
    }
}

void start_series(const place& at, entry& e, spool::scheduled_thread_pool_executor& timers) {
    const auto first = std::chrono::microseconds{at.chance.below(1000)};
    const auto period = std::chrono::microseconds{50 + at.chance.below(1000)};
    const spool::periodic_options options{.missed = static_cast<spool::missed_runs>(at.chance.below(3)),
                                          .on_exception = at.chance.one_in(2) ? spool::on_exception::stop
                                                                              : spool::on_exception::go_on,
                                          .jitter = std::chrono::microseconds{at.chance.below(3) * 40}};
    const bool rate = at.chance.one_in(2);
    with_body(at.in, e, [&](auto&& b) {
        e.series = rate ? timers.schedule_at_fixed_rate(std::move(b), first, period, options)
                        : timers.schedule_with_fixed_delay(std::move(b), first, period, options);
    });
    e.id = e.series.id();
    e.wants_told = true;
    e.series.on_done([&e] { ++e.told; });
    e.published = true;
}

void start_once(const place& at, entry& e, spool::scheduled_thread_pool_executor& timers) {
    const bool far = at.chance.one_in(6) && !at.in.ending;
    const std::chrono::microseconds delay{far ? 3'600'000'000U : at.chance.below(1500)};
    const std::size_t clock = at.chance.below(3);
    spool::scheduled_future<int> made;
    with_body(at.in, e, [&](auto&& b) {
        switch (clock) {
            case 0: made = timers.schedule(std::move(b), delay); break;
            case 1: made = timers.schedule_at(std::move(b), std::chrono::steady_clock::now() + delay); break;
            default: made = timers.schedule_at(std::move(b), std::chrono::system_clock::now() + delay); break;
        }
    });
    publish(e, std::move(made));
}

}  // namespace

entry* submit_one(const place& at, slot& where, spool::thread_pool_executor& pool, way by) {
    entry* const e = at.in.tasks.open(by, where.index, at.depth, at.chance());
    if (e == nullptr) {
        return nullptr;
    }
    set_due(at, *e, pool);
    if (by == way::submit) {
        submit(at, *e, pool);
    } else {
        execute(at, *e, pool);
    }
    return e;
}

std::vector<entry*> submit_many(const place& at, slot& where, spool::thread_pool_executor& pool, way by) {
    std::vector<entry*> entries;
    const std::size_t n = 1 + at.chance.below(at.chance.one_in(16) ? 300 : 12);
    for (std::size_t i = 0; i < n; ++i) {
        if (entry* const e = at.in.tasks.open(by, where.index, at.depth, at.chance())) {
            entries.push_back(e);
        }
    }
    if (by == way::bulk) {
        execute_all(at, entries, pool);
    } else {
        submit_all(at, entries, pool);
    }
    return entries;
}

entry* schedule_one(const place& at, slot& where, spool::thread_pool_executor& pool) {
    auto* const timers = dynamic_cast<spool::scheduled_thread_pool_executor*>(&pool);
    if (timers == nullptr) {
        return submit_one(at, where, pool, way::submit);
    }
    const bool again = at.chance.one_in(3) && !at.in.ending;
    entry* const e = at.in.tasks.open(again ? way::periodic : way::once, where.index, at.depth, at.chance());
    if (e == nullptr) {
        return nullptr;
    }
    const submitting mark{*e};
    try {
        if (again) {
            start_series(at, *e, *timers);
        } else {
            start_once(at, *e, *timers);
        }
    } catch (...) {
        e->told_submitter = judge(at.in, *e);
    }
    return e;
}

void submit_handle(world& in, slot& where, std::shared_ptr<managed> to, std::shared_ptr<managed> handle,
                   dice& chance) {
    entry* const e = in.tasks.open(way::execute, where.index, never_acts, chance());
    if (e == nullptr) {
        return;
    }
    const bool in_body = chance.one_in(2);  // else the callable's destructor drops the handle
    task work{[b = body<false, 0>{in, *e}, in_body, held = std::move(handle)]() mutable {
        b();
        const auto limit = spool::deadline::after(2ms);
        while (held.use_count() > 1 && !limit.expired()) {
            std::this_thread::yield();
        }
        if (in_body) {
            held = nullptr;
        }
    }};
    e->id = work.id();
    e->removable = false;  // else remove() might end the pool that it is called on
    const submitting mark{*e};
    try {
        to->pool().execute(std::move(work));
    } catch (...) {
        e->told_submitter = judge(in, *e);
    }
}

}  // namespace soak
