// What tasks do.
#include <chrono>
#include <thread>

#include "body.hpp"
#include "submissions.hpp"

namespace soak {
namespace {

using namespace std::chrono_literals;

void spin(std::size_t turns) {
    for (std::size_t i = 0; i < turns; ++i) {
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
}

// Waits without a limit only on a worker and for a task without a due time: that wait runs the task
// itself, or ends at the pool's stop. Every other wait lasts at most 1 ms.
void wait_for(world& in, const entry& inner, bool as_worker) {
    if (!inner.has_future() || !inner.result.valid()) {
        return;
    }
    try {
        const bool runs_it = as_worker && inner.due == spool::due_time::min();
        const int value = runs_it ? inner.result.get() : inner.result.get_for(1ms);
        if (value != static_cast<int>(inner.number)) {
            in.report("task " + std::to_string(inner.number) + ": the future brings another's result");
        }
    } catch (const spool::interrupted&) {
        rethrow_if_stopped();
    } catch (...) {  // timed out, cancelled, or what the task threw
    }
}

void nested_get(const place& at, bool as_worker) {
    const usable use = pick_pool(at);
    if (use.where == nullptr) {
        return;
    }
    const bool own = as_worker && use.where == at.home;
    if (at.chance.one_in(3)) {
        for (const entry* inner : submit_many(at, *use.where, *use.pool, way::submit_bulk)) {
            wait_for(at.in, *inner, own);
        }
    } else if (const entry* inner = submit_one(at, *use.where, *use.pool, way::submit)) {
        if (at.chance.one_in(8) && inner->has_future() && inner->result.cancel()) {
            ++at.in.tasks.at(inner->number)->cancelled;
        }
        wait_for(at.in, *inner, own);
    }
}

void group(const place& at) {
    const usable use = pick_pool(at);
    // With dropped bodies, no worker may be left to run the children.
    if (use.where != nullptr && !use.where->drops_bodies) {
        fork_and_join(at, *use.where, *use.pool);
    }
}

void unwind(const place& at) {
    const usable use = pick_pool(at);
    if (use.where != nullptr && !use.where->drops_bodies) {
        group_while_unwinding(at, *use.where, *use.pool);
    }
}

void act(world& in, const entry& mine, bool as_worker) {
    dice chance{mine.script};
    const place at{in, chance, mine.depth + 1, in.slots[mine.pool].get()};
    const std::size_t what = chance.below(27);
    const bool harmless = keeps_off() || mine.depth >= 3;
    switch (harmless ? what % 12 : what) {
        case 7: spin(chance.below(3000)); break;
        case 8: throw on_purpose{};
        case 9: throw 9;  // not a std::exception
        case 10: spool::this_task::sleep_for(std::chrono::microseconds{chance.below(400)}); break;
        case 11: std::this_thread::yield(); break;
        case 12:
        case 13:
        case 14:
        case 15: nested_get(at, as_worker); break;
        case 16:
        case 17: group(at); break;
        case 18:
        case 19:
        case 20:
        case 21: operate(at); [[fallthrough]];
        case 22: operate(at); break;
        case 24:
        case 25: unwind(at); break;
        case 26: cancel_at_stop(at); break;
        default: break;
    }
}

}  // namespace

bool& keeps_off() noexcept {
    static thread_local bool off = false;
    return off;
}

int call(world& in, entry& mine) {
    mine.overlapped += ++mine.inside > 1 ? 1 : 0;
    ++mine.calls;
    const bool in_submit = mine.submitting.load() == this_thread_mark();
    const bool on_own_worker = worker_of() == in.slots[mine.pool].get();
    const bool as_worker = !in_submit && on_own_worker;
    mine.in_submit += in_submit ? 1 : 0;
    mine.refused_on_worker += in_submit && on_own_worker && mine.by != way::child ? 1 : 0;
    mine.on_worker += as_worker ? 1 : 0;
    while (in.planted == plant::hang && as_worker) {
        spin(1000);
    }
    try {
        act(in, mine, as_worker);
    } catch (...) {
        ++mine.threw;
        --mine.inside;
        throw;
    }
    --mine.inside;
    return static_cast<int>(mine.number);
}

void fork_and_join(const place& at, slot& where, spool::thread_pool_executor& pool) {
    std::vector<entry*> children;
    bool all_ran = false;
    try {
        spool::task_group group{pool};
        const std::size_t n = at.chance.below(6);
        for (std::size_t i = 0; i < n; ++i) {
            entry* const e = at.in.tasks.open(way::child, where.index, at.depth, at.chance());
            if (e == nullptr) {
                break;
            }
            children.push_back(e);
            e->submitting = this_thread_mark();
            with_body(at.in, *e, [&](auto&& b) { group.run(std::move(b)); });
            e->submitting = nullptr;
        }
        const bool cancelled = at.chance.one_in(8);
        if (cancelled) {
            group.cancel();
        }
        group.wait();
        all_ran = !cancelled;
    } catch (const spool::interrupted&) {
    } catch (const spool::cancelled&) {
    } catch (const on_purpose&) {
    } catch (int) {}
    for (const entry* e : children) {
        const bool fine = e->made == e->gone && (!all_ran || e->calls == 1);
        if (!fine) {
            at.in.report("child " + std::to_string(e->number) +
                         " of a group that has ended: " + std::to_string(e->calls) + " calls, " +
                         std::to_string(e->made - e->gone) + " callables left");
        }
    }
}

}  // namespace soak
