#include "pool_run.hpp"

#include <algorithm>
#include <chrono>
#include <spool/executor/executor_service.hpp>
#include <spool/pool/thread_pool_executor.hpp>
#include <spool/queue/linked_blocking_queue.hpp>
#include <stop_token>
#include <thread>

#include "interruption.hpp"
#include "load_generator.hpp"
#include "observer.hpp"
#include "recorder.hpp"
#include "work.hpp"

namespace spool::lab {
namespace {

using namespace std::chrono_literals;

constexpr auto until_start = 20ms;  // lets the threads start first
constexpr auto stop_grace = 10s;

// Records when the pool rejects a task. Only the submitting thread calls it.
class refusal_times final : public pool_hooks {
public:
    explicit refusal_times(recorder& to) : to_(to) {}
    void rejected(const task_info&, rejection_reason) override {
        to_.record().refusal_times.push_back(to_.now());
    }

private:
    recorder& to_;
};

pool_options options_for(const scenario& what, recorder& to) {
    pool_options options = to_options(what.pool, "lab");
    options.hooks = std::make_shared<refusal_times>(to);
    if (what.pool.rejection == refusal::abort) {
        // The submitter learns of a rejection from the recorder. An exception for each would delay
        // the next arrivals.
        options.rejection = [](task&&, rejection_reason, thread_pool_executor&) {};
    }
    return options;
}

void apply(const change& c, thread_pool_executor& pool, settings& now) {
    now.core = c.core.value_or(now.core);
    now.maximum = c.maximum.value_or(now.maximum);
    now.keep_alive = c.keep_alive.value_or(now.keep_alive);
    now.capacity = c.capacity.value_or(now.capacity);
    // In this order the core size never exceeds the maximum.
    pool.set_maximum_size(std::max(pool.core_size(), now.maximum));
    pool.set_core_size(now.core);
    pool.set_maximum_size(now.maximum);
    pool.set_keep_alive(now.keep_alive);
    if (auto* queue = dynamic_cast<linked_blocking_queue<task>*>(&pool.queue());
        queue != nullptr && c.capacity) {
        queue->set_capacity(*c.capacity);
    }
}

// Samples the pool, shows frames and applies due changes. Returns when all tasks are done and the
// scenario's duration is over, or when the user interrupts.
void watch(const scenario& what, thread_pool_executor& pool, recorder& to, const load_generator& load,
           observer& by) {
    settings current = what.pool;
    std::size_t next_change = 0;
    std::this_thread::sleep_until(to.at(nanoseconds{0}));
    for (nanoseconds next_look{0}; !interrupted_by_user();) {
        while (next_change < what.changes.size() && what.changes[next_change].at <= to.now()) {
            apply(what.changes[next_change++], pool, current);
            by.settings_are(current);
        }
        by.look();
        const bool all_done = load.finished() && to.done() == to.record().plan->size();
        if (all_done && to.now() >= what.duration) {
            return;
        }
        next_look = std::max(next_look + sample_period, to.now());
        const bool change_first =
            next_change < what.changes.size() && what.changes[next_change].at < next_look;
        std::this_thread::sleep_until(to.at(change_first ? what.changes[next_change].at : next_look));
    }
}

}  // namespace

run_record run_on_pool(const scenario& what, std::shared_ptr<const std::vector<planned_task>> plan,
                       view& audience, const std::string& title) {
    ask_for_exact_timers();
    recorder to{what, std::move(plan), steady::now() + until_start};
    thread_pool_executor pool{options_for(what, to)};
    load_generator load{pool, to};
    {
        std::jthread generator{[&load](const std::stop_token& stop) { load.run(stop); }};
        observer by{pool, to, load, audience, title};
        watch(what, pool, to, load, by);
    }
    run_record& record = to.record();
    record.interrupted = interrupted_by_user();
    record.largest_pool = pool.largest_pool_size();
    if (record.interrupted) {
        static_cast<void>(shutdown_and_await(pool, 0s, stop_grace));
    }
    pool.close();
    record.lateness = std::move(load.lateness());
    for (std::size_t i = 0; i < record.outcomes.size(); ++i) {
        outcome& o = record.outcomes[i];
        if (o.how == fate::waiting) {
            o.how = fate::abandoned;  // never submitted, or due for a retry
        }
        record.length = std::max(record.length, o.end);
    }
    return std::move(record);
}

run_record run_on_pool(const scenario& what, view& audience) {
    return run_on_pool(what, std::make_shared<const std::vector<planned_task>>(make_plan(what)), audience,
                       what.name);
}

}  // namespace spool::lab
