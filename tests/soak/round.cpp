#include "round.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <thread>

#include <spool/detail/pause_point.hpp>

#include "body.hpp"
#include "leaks.hpp"
#include "own_queue.hpp"
#include "submissions.hpp"
#include "support/delays.hpp"
#include "verdict.hpp"
#include "watchdog.hpp"

namespace soak {
namespace {

using namespace std::chrono_literals;
using handles = std::vector<std::shared_ptr<managed>>;

void dispose(world& in, std::vector<spool::task> tasks, std::uint64_t seed) {
    const bool kept_off = std::exchange(keeps_off(), true);
    dice chance{seed};
    for (spool::task& t : tasks) {
        if (chance.one_in(3)) {
            in.note(t.id(), &entry::called_back);
            try {
                t();
            } catch (...) {  // the task's own exception
            }
        }
        t = nullptr;
    }
    keeps_off() = kept_off;
}

// A thread beside the drivers. It disposes of tasks that no worker will run. At the end of the
// round it cancels delayed and periodic tasks, which would last.
class sweeper {
public:
    sweeper(world& in, std::uint64_t seed) : in_(in), chance_(seed), thread_([this] { run(); }) {}
    sweeper(const sweeper&) = delete;
    sweeper& operator=(const sweeper&) = delete;
    ~sweeper() {
        over_ = true;
        thread_.join();
        for (std::thread& t : helpers_) {
            t.join();
        }
    }

private:
    void run() {
        keeps_off() = true;
        bool last = false;
        while (!last) {
            last = over_;
            spool::this_task::sleep_for(std::chrono::microseconds{200 + chance_.below(1000)});
            sweep();
        }
    }
    void sweep() {
        if (in_.ending) {
            for (std::size_t i = 0; i < in_.tasks.size(); ++i) {
                entry& e = *in_.tasks.at(i);
                if (e.by == way::periodic || e.by == way::once) {
                    cancel(e);
                }
            }
        }
        std::vector<spool::task> taken;
        {
            const std::lock_guard lock{in_.mutex};
            taken.swap(in_.kept);
        }
        if (taken.empty()) {
            return;
        }
        if (!in_.handles_out) {
            dispose(in_, std::move(taken), chance_());
            return;
        }
        // A task may hold the last handle of a pool and so end that pool. The end may take until
        // another kept task is disposed of, so each task gets its own thread.
        for (spool::task& one : taken) {
            std::vector<spool::task> alone;
            alone.push_back(std::move(one));
            helpers_.emplace_back([this, seed = chance_(), mine = std::move(alone)]() mutable {
                dispose(in_, std::move(mine), seed);
            });
        }
    }
    static void cancel(entry& e) {
        if (e.has_future() && (e.series.valid() ? e.series.cancel() : e.result.cancel())) {
            ++e.cancelled;
        }
    }

    world& in_;
    dice chance_;
    std::atomic<bool> over_{false};
    std::vector<std::thread> helpers_;
    std::thread thread_;
};

void drive(world& in, handles pools, std::uint64_t seed) {
    dice chance{seed};
    const std::size_t n = 5 + chance.below(60);
    const place at{in, chance};
    for (std::size_t i = 0; i < n; ++i) {
        operate(at);
        if (chance.one_in(16)) {
            std::this_thread::yield();
        }
    }
    while (!pools.empty()) {
        pools.erase(pools.begin() + static_cast<std::ptrdiff_t>(chance.below(pools.size())));
    }
}

// Lets every pool start the threads that it lacks and run everything. Then the counts must be
// exact.
void come_to_rest(world& in, const handles& pools, dice& chance) {
    for (const auto& held : pools) {
        if (auto* const timers = dynamic_cast<spool::scheduled_thread_pool_executor*>(&held->pool())) {
            timers->set_remove_on_cancel(true);
        }
    }
    for (std::size_t i = pools.size(); i-- > 0;) {  // a pool's tasks submit to earlier pools
        slot& where = *in.slots[i];
        spool::thread_pool_executor& pool = pools[i]->pool();
        pool.set_thread_factory(sound_factory(where));
        submit_one({in, chance, never_acts}, where, pool, way::try_execute);
        const auto idle = [&pool] {
            static_cast<void>(pool.purge());
            const spool::pool_snapshot s = pool.snapshot();
            return s.active == 0 && s.queued == 0;
        };
        while (!idle()) {
            spool::this_task::sleep_for(100us);
        }
    }
    for (std::size_t i = 0; i < pools.size(); ++i) {
        judge_at_rest(in, *in.slots[i], pools[i]->pool());
    }
}

void end_pool(world& in, handles& pools, std::size_t i, dice& chance) {
    slot& where = *in.slots[i];
    std::shared_ptr<managed> held = std::exchange(pools[i], nullptr);
    spool::thread_pool_executor& pool = held->pool();
    switch (chance.below(6)) {
        case 0: pool.shutdown(); break;
        case 1: {
            std::vector<spool::task> back = pool.shutdown_now();
            for (const spool::task& one : back) {
                in.note(one.id(), &entry::handed_back);
            }
            in.keep(std::move(back));
            break;
        }
        case 2: {
            spool::shutdown_report report = spool::shutdown_and_await(pool, 1ms, 1ms);
            for (const spool::task& one : report.never_ran) {
                in.note(one.id(), &entry::handed_back);
            }
            in.keep(std::move(report.never_ran));
            break;
        }
        case 3: {  // a task of a later pool ends this pool
            const std::size_t later = i + 1 + chance.below(in.slots.size() - i);
            if (later < pools.size() && pools[later] != nullptr) {
                in.handles_out = true;
                submit_handle(in, *in.slots[later], pools[later], std::move(held), chance);
            }
            break;
        }
        default: break;
    }
    if (held != nullptr && where.ends_itself) {
        in.handles_out = true;
        std::shared_ptr<managed> to = held;
        submit_handle(in, where, std::move(to), std::move(held), chance);
    }
}

bool all_gone(const world& in) {
    return std::all_of(in.slots.begin(), in.slots.end(), [](const auto& s) {
        return s->raw == nullptr && s->threads_begun == s->threads_ended;
    });
}

void play(world& in, dice& chance) {
    handles pools;
    const std::size_t n = 1 + chance.below(3);
    for (std::size_t i = 0; i < n; ++i) {
        in.slots.push_back(std::make_unique<slot>());
        in.slots.back()->index = i;
        in.slots.back()->in = &in;
    }
    for (const auto& s : in.slots) {
        pools.push_back(make_pool(*s, dice{chance()}));
    }
    const watched watch{in};
    const sweeper sweep{in, chance()};
    std::vector<std::thread> drivers;
    const std::size_t hands = 1 + chance.below(4);
    for (std::size_t i = 0; i < hands; ++i) {
        drivers.emplace_back([&in, pools, seed = chance()]() mutable { drive(in, std::move(pools), seed); });
    }
    for (std::thread& t : drivers) {
        t.join();
    }
    in.ending = true;
    if (chance.one_in(2)) {
        come_to_rest(in, pools, chance);
    }
    for (std::size_t i = 0; i < pools.size(); ++i) {
        end_pool(in, pools, i, chance);
    }
    while (!all_gone(in)) {
        spool::this_task::sleep_for(100us);
    }
}

// Begins random pauses in half of the rounds, in builds with pause points. Returns whether it did.
bool begin_pauses([[maybe_unused]] std::uint64_t seed) {
#if defined(SPOOL_PAUSE_POINTS)
    if (dice{seed + 1}.one_in(2)) {
        spool::pauses::begin(seed + 1);
        return true;
    }
#endif
    return false;
}
void end_pauses() {
#if defined(SPOOL_PAUSE_POINTS)
    spool::pauses::begin(0);
#endif
}

}  // namespace

round_report run_round(std::uint64_t seed, plant planted) {
    const std::size_t threads = thread_count();
    const std::size_t descriptors = descriptor_count();
    dice chance{seed};
    world in{seed, planted};
    const bool pauses = begin_pauses(seed);
    play(in, chance);
    end_pauses();
    // The system lists a thread for a little while after its end.
    const auto limit = spool::deadline::after(planted == plant::none ? test::long_delay() : 1s);
    while (thread_count() > threads && !limit.expired()) {
        spool::this_task::sleep_for(100us);
    }
    if (thread_count() > threads) {
        in.report("threads before the round " + std::to_string(threads) + ", after it " +
                  std::to_string(thread_count()));
    }
    if (descriptor_count() > descriptors) {
        in.report("descriptors before the round " + std::to_string(descriptors) + ", after it " +
                  std::to_string(descriptor_count()));
    }
    in.tasks.note(in.seen);
    judge_round(in);
    own_queue::give_up_hoard();
    round_report report{.seed = seed, .settings = {}, .problems = std::move(in.problems)};
    for (const auto& s : in.slots) {
        report.settings += s->settings + "\n";
    }
    report.settings += pauses ? "threads pause at random\n" : "";
    report.pools = in.slots.size();
    report.operations = in.operations;
    report.tasks = in.tasks.size();
    return report;
}

std::string to_string(const round_report& report) {
    std::string text = "seed " + std::to_string(report.seed) + "\n" + report.settings;
    for (const std::string& problem : report.problems) {
        text += "  " + problem + "\n";
    }
    return text;
}

}  // namespace soak
