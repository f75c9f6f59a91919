#include "schedule_rounds.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include <spool/spool.hpp>
#include <spool/testing/manual_clock.hpp>

#include "schedule_jobs.hpp"

namespace test {
namespace {

using namespace std::chrono_literals;
using spool::scheduled_thread_pool_executor;

struct round;

struct body {
    witness seen;
    round* in;
    std::uint64_t dice;
    void operator()();
};

struct round {
    explicit round(std::uint64_t seed) : random(seed) {}
    std::size_t pick(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); }
    bool coin(const char* name) {
        const bool heads = pick(2) == 0;
        settings += heads ? std::string{", "} + name : "";
        return heads;
    }

    std::mt19937_64 random;
    std::string settings;
    std::shared_ptr<spool::testing::manual_clock> clock;  // null: real time
    std::unique_ptr<scheduled_thread_pool_executor> pool;
    // The pool's address, for tasks: they do not use it once `ending` is set.
    scheduled_thread_pool_executor* address = nullptr;
    std::atomic<bool> ending{false};
};

void change_a_setting(scheduled_thread_pool_executor& pool, std::uint64_t dice) {
    const bool on = dice / 8 % 2 == 0;
    switch (dice % 8) {
        case 0: pool.set_core_size(dice / 8 % 4); break;
        case 1: pool.set_keep_alive(std::chrono::microseconds{1 + dice / 8 % 500}); break;
        case 2: pool.allow_core_threads_to_time_out(on); break;
        case 3: pool.set_remove_on_cancel(on); break;
        case 4: pool.set_run_delayed_after_shutdown(on); break;
        case 5: pool.set_run_periodic_after_shutdown(on); break;
        case 6: static_cast<void>(pool.purge()); break;
        default: pool.queue().for_each([](const spool::task& t) { static_cast<void>(t.id()); }); break;
    }
}

void body::operator()() {
    job& mine = seen.mine();
    mine.overlaps += ++mine.inside > 1 ? 1 : 0;
    ++mine.ran;
    if (mine.what == kind::chain && mine.links < 4 && !in->ending) {
        try {
            ++mine.links;
            in->address->schedule(body{witness{mine}, in, dice * 31 + 7},
                                  std::chrono::microseconds{dice % 300});
        } catch (const spool::rejected_execution&) {
            --mine.links;
        }
    }
    if (dice % 5 == 0 && !in->ending) {
        change_a_setting(*in->address, dice / 5);
    }
    --mine.inside;
    if (dice % 7 == 0) {
        throw std::runtime_error("on purpose");
    }
}

void put_in(round& r, job& j, std::mt19937_64& random) {
    scheduled_thread_pool_executor& pool = *r.address;
    body b{witness{j}, &r, random()};
    const std::chrono::microseconds later{random() % 4 == 0 ? 3'600'000'000 : random() % 1500};
    const std::chrono::microseconds period{1 + random() % 300};
    const spool::periodic_options options{.missed = static_cast<spool::missed_runs>(random() % 3),
                                          .on_exception = random() % 4 == 0 ? spool::on_exception::stop
                                                                            : spool::on_exception::go_on,
                                          .jitter = std::chrono::microseconds{random() % 3 * 50}};
    try {
        switch (j.what) {
            case kind::once: j.future = pool.schedule(std::move(b), later); break;
            case kind::wall: {
                const auto now = r.clock ? r.clock->wall_now() : std::chrono::system_clock::now();
                j.future = pool.schedule_at(std::move(b), now + later);
                break;
            }
            case kind::executed: pool.execute(std::move(b)); break;
            case kind::rate:
                j.future = pool.schedule_at_fixed_rate(std::move(b), later, period, options);
                break;
            case kind::delay:
                j.future = pool.schedule_with_fixed_delay(std::move(b), later, period, options);
                break;
            case kind::chain:
                ++j.links;
                j.future = pool.schedule(std::move(b), later);
                break;
        }
        if (j.future.valid()) {
            j.future.on_done([&j] { ++j.told; });
        }
    } catch (const spool::rejected_execution&) {
        j.refused = true;
    }
}

// The body of one thread: schedules its own jobs, and cancels or removes some of them.
void play(round& r, std::vector<job>& jobs, std::uint64_t seed) {
    std::mt19937_64 random{seed};
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        put_in(r, jobs[i], random);
        const job& one = jobs[random() % (i + 1)];
        if (one.future.valid()) {
            switch (random() % 6) {
                case 0: one.future.cancel(); break;
                case 1: one.future.cancel(spool::cancel_mode::let_run); break;
                case 2: r.address->remove(one.future); break;
                case 3: static_cast<void>(one.future.delay()); break;
                default: break;
            }
        }
        if (random() % 16 == 0) {
            change_a_setting(*r.address, random());
        }
        if (r.clock != nullptr) {
            r.clock->advance(std::chrono::microseconds{random() % 200});
            if (random() % 16 == 0) {
                r.clock->set_wall(r.clock->wall_now() + std::chrono::microseconds{random() % 2000} - 1000us);
            }
        }
    }
}

// Ends the pool while the other threads go on. The caller runs, drops or keeps the tasks in `back`.
void end_pool(round& r, std::vector<spool::task>& back) {
    const std::size_t spins = r.pick(40000);
    for (std::size_t i = 0; i < spins; ++i) {
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    switch (r.pick(4)) {
        case 0:
            r.settings += ", shutdown";
            r.pool->shutdown();
            break;
        case 1:
            r.settings += ", shutdown_now";
            back = r.pool->shutdown_now();
            break;
        case 2:
            r.settings += ", shutdown and shutdown_now";
            r.pool->shutdown();
            back = r.pool->shutdown_now();
            break;
        default: r.settings += ", destroy"; break;
    }
}

}  // namespace

schedule_report run_schedule_round(std::uint64_t seed) {
    round r{seed};
    r.settings = "seed " + std::to_string(seed);
    constexpr std::size_t players = 4;
    std::vector<std::vector<job>> jobs;
    const std::size_t each = 4 + r.pick(24);
    for (std::size_t p = 0; p < players; ++p) {
        for (job& j : jobs.emplace_back(each)) {
            j.what = static_cast<kind>(r.pick(kinds));
        }
    }
    if (r.coin("manual clock")) {
        r.clock = std::make_shared<spool::testing::manual_clock>();
    }
    r.pool = std::make_unique<scheduled_thread_pool_executor>(
        spool::scheduled_pool_options{.core_size = r.pick(4),
                                      .keep_alive = 50us,
                                      .core_threads_may_time_out = r.coin("core may time out"),
                                      .uncaught = [](const spool::worker_info&, const std::exception_ptr&) {},
                                      .task_times = r.coin("times"),
                                      .run_delayed_after_shutdown = r.coin("delayed run on"),
                                      .run_periodic_after_shutdown = r.coin("periodic run on"),
                                      .remove_on_cancel = r.coin("remove on cancel"),
                                      .clock = r.clock});
    r.address = r.pool.get();
    std::vector<spool::task> back;
    std::vector<std::thread> threads;
    for (std::size_t p = 0; p < players; ++p) {
        threads.emplace_back([&, p, own = r.random()] { play(r, jobs[p], own); });
    }
    end_pool(r, back);
    for (std::thread& t : threads) {
        t.join();
    }
    r.ending = true;
    // Another thread cancels the first player's futures while the pool is destroyed.
    std::thread late{[&] {
        for (const job& j : jobs[0]) {
            if (j.future.valid()) {
                j.future.cancel();
            }
        }
    }};
    if (r.coin("handed back run first")) {
        for (spool::task& t : back) {
            try {
                t();
            } catch (const std::runtime_error&) {}
        }
        back.clear();
    }
    r.pool.reset();
    late.join();
    if (r.coin("handed back run last")) {
        for (spool::task& t : back) {
            try {
                t();
            } catch (const std::runtime_error&) {}
        }
    }
    back.clear();
    schedule_report report{r.settings, {}};
    for (const std::vector<job>& mine : jobs) {
        for (const job& j : mine) {
            if (const std::string problem = verdict(j); !problem.empty()) {
                report.problem = problem;
            }
        }
    }
    return report;
}

}  // namespace test
