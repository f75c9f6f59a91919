// One random operation on a random pool.
#include <chrono>
#include <stdexcept>

#include "hostile.hpp"
#include "submissions.hpp"
#include "world.hpp"

namespace soak {
namespace {

using namespace std::chrono_literals;

struct target {
    const place& at;
    slot& where;
    spool::thread_pool_executor& pool;
    [[nodiscard]] std::size_t below(std::size_t n) const { return at.chance.below(n); }
};

void cancel_some(const target& t) {
    entry* const e = t.at.in.tasks.at(t.below(t.at.in.tasks.size() + 1));
    if (e == nullptr || !e->has_future()) {
        return;
    }
    const auto mode = t.at.chance.one_in(2) ? spool::cancel_mode::interrupt : spool::cancel_mode::let_run;
    if (e->series.valid() ? e->series.cancel(mode) : e->result.cancel(mode)) {
        ++e->cancelled;
    }
}

void remove_some(const target& t) {
    entry* const e = t.at.in.tasks.at(t.below(t.at.in.tasks.size() + 1));
    if (e == nullptr || e->pool != t.where.index || e->id == 0 || !e->removable) {
        return;
    }
    auto* const timers = dynamic_cast<spool::scheduled_thread_pool_executor*>(&t.pool);
    const bool by_future = timers != nullptr && e->published && e->series.valid() && t.at.chance.one_in(2);
    if (by_future ? timers->remove(e->series) : t.pool.remove(e->id.load())) {
        ++e->removed;
    }
}

void wait_some(const target& t) {
    const entry* const e = t.at.in.tasks.at(t.below(t.at.in.tasks.size() + 1));
    if (e == nullptr || !e->has_future() || !e->result.valid()) {
        return;
    }
    try {
        if (e->result.get_for(std::chrono::microseconds{t.below(1500)}) != static_cast<int>(e->number)) {
            t.at.in.report("task " + std::to_string(e->number) + ": the future brings another's result");
        }
    } catch (const spool::interrupted&) {
        rethrow_if_stopped();
    } catch (...) {  // timed out, cancelled, or what the task threw
    }
}

void resize(const target& t) {
    const bool timers = dynamic_cast<spool::scheduled_thread_pool_executor*>(&t.pool) != nullptr;
    try {
        switch (t.below(5)) {
            case 0: t.pool.set_core_size(t.below(4)); break;
            case 1:
                if (!timers) {
                    t.pool.set_maximum_size(1 + t.below(5));
                }
                break;
            case 2: t.pool.set_keep_alive(std::chrono::microseconds{10 + t.below(2000)}); break;
            case 3: t.pool.allow_core_threads_to_time_out(t.at.chance.one_in(2)); break;
            default:
                if (t.where.set_capacity) {
                    t.where.set_capacity(1 + t.below(20));
                }
                break;
        }
    } catch (const std::invalid_argument&) {  // core size above maximum size
    }
}

void look(const target& t) {
    const spool::pool_snapshot first = t.pool.snapshot();
    const spool::pool_snapshot then = t.pool.snapshot();
    if (then.completed < first.completed || then.state < first.state || then.rejected < first.rejected ||
        then.largest_pool_size < first.largest_pool_size) {
        t.at.in.report("a number has gone back: " + to_string(first) + "; then " + to_string(then));
    }
    switch (t.below(4)) {
        case 0: static_cast<void>(t.pool.describe()); break;
        case 1:
            t.pool.queue().for_each([](const spool::task& one) { static_cast<void>(one.priority()); });
            break;
        case 2:
            static_cast<void>(t.pool.queue().contains([](const spool::task& one) { return one.id() == 0; }));
            break;
        default: static_cast<void>(t.pool.await_termination(std::chrono::microseconds{t.below(300)})); break;
    }
}

// The queue's comparator may throw out of shutdown_now(), which leaves the rest for the next call.
// In the second call no comparison throws: with many tasks, some comparison of every call would.
std::vector<spool::task> shutdown_now(spool::thread_pool_executor& pool) {
    try {
        return pool.shutdown_now();
    } catch (const on_purpose&) {
        const calm_comparisons here;
        return pool.shutdown_now();
    }
}

void stop(const target& t) {
    if (!t.at.chance.one_in(t.at.home == nullptr ? 8 : 16)) {
        return;
    }
    const bool timers = dynamic_cast<spool::scheduled_thread_pool_executor*>(&t.pool) != nullptr;
    t.where.was_stopped = true;
    switch (t.below(3)) {
        case 0: t.pool.shutdown(); break;
        case 1: {
            std::vector<spool::task> back = shutdown_now(t.pool);
            for (const spool::task& one : back) {
                t.at.in.note(one.id(), &entry::handed_back);
            }
            t.at.in.keep(std::move(back));
            break;
        }
        default:
            // Not in a task of this pool: close() waits for the other workers, and one of them may
            // wait for this task.
            if (t.at.home != &t.where && !timers) {
                t.pool.close();
                t.where.discards = t.where.discards || spool::this_task::stop_requested();
            }
            break;
    }
}

void swap_parts(const target& t) {
    if (t.at.chance.one_in(2)) {
        t.pool.set_rejection(pick_policy(t.where, t.at.chance, nullptr));
    } else {
        t.pool.set_thread_factory(pick_factory(t.where, t.at.chance, nullptr));
    }
}

void invoke(const target& t) {
    const std::vector<int (*)()> all(1 + t.below(5), [] { return 1; });
    t.where.untracked += all.size();
    try {
        if (t.at.chance.one_in(2)) {
            static_cast<void>(t.pool.invoke_any(all, std::chrono::microseconds{t.below(2000)}));
        } else {
            for (const auto& f : t.pool.invoke_all(all, std::chrono::microseconds{t.below(2000)})) {
                // A worker may still be completing the future, which is then done a moment later.
                if (!f.wait_for(std::chrono::seconds{10})) {
                    t.at.in.report("invoke_all() has returned a future that does not end");
                }
            }
        }
    } catch (const spool::interrupted&) {
        rethrow_if_stopped();
    } catch (...) {  // refused, timed out, cancelled
    }
}

void settings_of_timers(const target& t) {
    auto* const timers = dynamic_cast<spool::scheduled_thread_pool_executor*>(&t.pool);
    if (timers == nullptr || t.at.in.ending) {
        return;
    }
    const bool on = t.at.chance.one_in(2);
    switch (t.below(3)) {
        case 0: timers->set_remove_on_cancel(on); break;
        case 1: timers->set_run_delayed_after_shutdown(on); break;
        default: timers->set_run_periodic_after_shutdown(on); break;
    }
}

void on_pool(const target& t) {
    const auto one = [&t](way by) { submit_one(t.at, t.where, t.pool, by); };
    switch (t.below(64)) {
        case 0:
        case 1: submit_many(t.at, t.where, t.pool, way::bulk); break;
        case 2: submit_many(t.at, t.where, t.pool, way::submit_bulk); break;
        case 3:
        case 4:
        case 5: one(way::try_execute); break;
        case 6:
        case 7: one(way::execute_for); break;
        case 8:
        case 9:
        case 10:
        case 11:
        case 12: cancel_some(t); break;
        case 13:
        case 14: remove_some(t); break;
        case 15: static_cast<void>(t.pool.purge()); break;
        case 16:
        case 17:
        case 18: wait_some(t); break;
        case 19:
        case 20:
        case 21:
        case 22:
        case 23: resize(t); break;
        case 24:
        case 25: look(t); break;
        case 26: stop(t); break;
        case 27: swap_parts(t); break;
        case 28: static_cast<void>(t.pool.prestart_core_thread()); break;
        case 29: static_cast<void>(t.pool.prestart_all_core_threads()); break;
        case 30: settings_of_timers(t); break;
        case 31:
            if (!t.where.drops_bodies) {  // else no worker may be left to run the children
                t.at.chance.one_in(2) ? fork_and_join(t.at, t.where, t.pool) : loop(t.at, t.where, t.pool);
            }
            break;
        case 32: invoke(t); break;
        case 33:
            // Only a driver may wait for the lane: a worker might wait for itself.
            if (t.at.home == nullptr && !t.where.drops_bodies) {
                through_a_lane(t.at, t.where, t.pool);
            }
            break;
        default:
            switch (t.below(3)) {
                case 0: one(way::execute); break;
                case 1: one(way::submit); break;
                default: schedule_one(t.at, t.where, t.pool); break;
            }
            break;
    }
}

}  // namespace

usable pool_of(const place& at, std::size_t index) {
    slot& where = *at.in.slots[index];
    if (worker_of() == &where) {  // the pool lives while this task runs
        return {&where, where.raw.load(), {}};
    }
    std::shared_ptr<managed> held = where.handle.lock();
    if (held == nullptr) {
        return {};
    }
    spool::thread_pool_executor& pool = held->pool();
    return {&where, &pool, std::move(held)};
}

usable pick_pool(const place& at) {
    const std::size_t most = at.home == nullptr ? at.in.slots.size() : at.home->index + 1;
    return pool_of(at, at.chance.one_in(2) ? most - 1 : at.chance.below(most));
}

void operate(const place& at) {
    const usable use = pick_pool(at);
    if (use.where != nullptr) {
        at.in.did();
        try {
            on_pool({at, *use.where, *use.pool});
        } catch (const on_purpose&) {
            if (!use.where->order_throws) {
                throw;
            }
        }
    }
}

}  // namespace soak
