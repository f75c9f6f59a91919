#include "hostile.hpp"

#include <atomic>
#include <chrono>
#include <stop_token>
#include <thread>

#include "body.hpp"
#include "submissions.hpp"

namespace soak {
namespace {

using namespace std::chrono_literals;

void cancel(world& in, std::size_t number) {
    entry* const e = in.tasks.at(number);
    if (e != nullptr && e->has_future() && (e->series.valid() ? e->series.cancel() : e->result.cancel())) {
        e->cancelled += in.planted == plant::double_cancel ? 2 : 1;
    }
}

// The script of a task that does nothing.
std::uint64_t calm_script() {
    std::uint64_t script = 0;
    while (dice{script}.below(27) % 12 >= 7) {
        ++script;
    }
    return script;
}

}  // namespace

// Does something only on a thread where the pool cannot end meanwhile: on the pool's own worker, or
// on a driver, which has its own handle.
void last_words::speak() const {
    slot& where = *in_->slots[entry_->pool];
    const bool on_worker = worker_of() == &where;
    if (keeps_off() || in_->ending || entry_->depth >= 3 || (!on_worker && worker_of() != nullptr)) {
        return;
    }
    const std::shared_ptr<managed> held = on_worker ? nullptr : where.handle.lock();
    spool::thread_pool_executor* const pool =
        on_worker ? where.raw.load() : (held != nullptr ? &held->pool() : nullptr);
    if (pool == nullptr) {
        return;
    }
    dice chance{entry_->script + 1};
    switch (chance.below(moved_from_ ? 2 : 4)) {
        case 0: static_cast<void>(pool->queue().size()); break;
        case 1: static_cast<void>(pool->snapshot()); break;
        case 2: cancel(*in_, chance.below(in_->tasks.size() + 1)); break;
        default:
            if (in_->planted == plant::forgotten_words) {
                static_cast<void>(
                    in_->tasks.open(way::try_execute, where.index, entry_->depth + 1, chance()));
            } else {
                submit_one({*in_, chance, entry_->depth + 1, &where}, where, *pool, way::try_execute);
            }
            break;
    }
}

namespace {
thread_local bool is_calm = false;
}

calm_comparisons::calm_comparisons() {
    is_calm = true;
}
calm_comparisons::~calm_comparisons() {
    is_calm = false;
}

bool moody_order::operator()(const spool::task& a, const spool::task& b) const {
    static std::atomic<std::uint64_t> asked{0};
    // relaxed, statistic: which comparison throws does not matter
    const std::uint64_t n = asked.fetch_add(1, std::memory_order_relaxed);
    if (dice{n}.one_in(64) && !at_->in->ending && !is_calm) {
        throw on_purpose{};
    }
    return a.priority() > b.priority();
}

void group_while_unwinding(const place& at, slot& where, spool::thread_pool_executor& pool) {
    struct flush {
        const place& at;
        slot& where;
        spool::thread_pool_executor& pool;
        ~flush() { flush_children(); }
        void flush_children() const noexcept {
            std::vector<entry*> children;
            {
                spool::task_group group{pool};
                for (std::size_t i = 0; i < 4; ++i) {
                    entry* const e = at.in.tasks.open(way::child, where.index, never_acts, calm_script());
                    if (e == nullptr) {
                        break;
                    }
                    children.push_back(e);
                    e->submitting = this_thread_mark();
                    with_body(at.in, *e, [&](auto&& b) { group.run(std::move(b)); });
                    e->submitting = nullptr;
                }
                if (at.in.planted == plant::unheard_group) {
                    group.cancel();
                }
            }  // the destructor joins the children: the group was made after the throw
            for (const entry* e : children) {
                if (e->calls != 1 && !where.was_stopped && !where.may_evict && !where.hooks_throw &&
                    !at.in.ending && !spool::this_task::stop_requested()) {
                    at.in.report("child " + std::to_string(e->number) +
                                 " of a group made during unwinding: " + std::to_string(e->calls) + " calls");
                }
            }
        }
    };
    try {
        const flush at_end{at, where, pool};
        throw on_purpose{};
    } catch (const on_purpose&) {}
}

void cancel_at_stop(const place& at) {
    const std::size_t number = at.chance.below(at.in.tasks.size() + 1);
    const std::stop_callback on_stop{spool::this_task::stop_token(),
                                     [&in = at.in, number] { cancel(in, number); }};
    if (at.in.planted == plant::double_cancel) {
        cancel(at.in, number);
    }
    spool::this_task::sleep_for(std::chrono::microseconds{at.chance.below(400)});
}

void through_a_lane(const place& at, slot& where, spool::thread_pool_executor& pool) {
    if (at.in.planted == plant::leaked_task) {
        return;  // the queue might keep the lane's own task, and the wait below has no limit
    }
    constexpr std::size_t each = 8;
    spool::serial_executor lane{pool};
    std::atomic<int> accepted{0};
    std::atomic<int> ended{0};  // tasks that ran or were destroyed
    std::atomic<int> ran{0};
    struct counted {
        std::atomic<int>* ended;
        explicit counted(std::atomic<int>& n) : ended(&n) {}
        counted(counted&& other) noexcept : ended(std::exchange(other.ended, nullptr)) {}
        counted& operator=(counted&&) = delete;
        ~counted() {
            if (ended != nullptr) {
                ++*ended;
            }
        }
    };
    const auto push = [&] {
        for (std::size_t i = 0; i < each; ++i) {
            where.untracked += 2;  // allows for the lane's own tasks in the pool
            try {
                lane.execute([&ran, end = counted{ended}, in = &at.in] {
                    ran += in->planted == plant::dropped_by_lane ? 0 : 1;
                });
                ++accepted;
            } catch (...) {  // refused, or thrown by a hook, a policy or a factory
            }
        }
    };
    {
        std::thread other{[&] {
            keeps_off() = true;
            push();
        }};
        push();
        other.join();
    }
    while (ended < static_cast<int>(2 * each)) {
        std::this_thread::yield();
    }
    if (ran < accepted && !where.was_stopped && !where.may_drop && !where.hooks_throw) {
        at.in.report("a serial_executor took " + std::to_string(accepted) + " tasks and ran " +
                     std::to_string(ran));
    }
}

}  // namespace soak
