// W11: an outside thread starts and cancels a million timers. W11a: how late 10,000 timers fire.
//
// A timer contender has
//     handle                     what the caller keeps per timer; default-constructible
//     handle_is_timer            the handle is the timer's own memory, so its bytes count
//     start(handle&, delay, f)   f is trivially copyable and as large as a pointer
//     cancel(handle&)            true if the call prevented the timer from firing
//     settle()                   returns when all cancelled timers have been reclaimed
//     run_until(done)            lets timers fire until done() returns true
//     refresh_clock()            optional: reads the clock before a start whose accuracy counts
//     forget_handles()           optional: called before the handles are destroyed
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "pools/support/figures.hpp"
#include "pools/support/process.hpp"

namespace bench {

/// Returns uniformly distributed delays; the same sequence for every contender.
[[nodiscard]] inline std::vector<nanoseconds> random_delays(std::size_t count, nanoseconds least,
                                                            nanoseconds most) {
    std::mt19937_64 random{88172645463325252U};
    std::uniform_int_distribution<std::int64_t> any{least.count(), most.count()};
    std::vector<nanoseconds> delays(count);
    for (nanoseconds& d : delays) {
        d = nanoseconds{any(random)};
    }
    return delays;
}

struct timer_round {
    double insert_seconds = 0;
    double cancel_seconds = 0;
    double gone_seconds = 0;  // from the first cancel until the last timer is reclaimed
    double resident_growth = 0;
};

/// Starts all timers, then cancels them in the order of insertion.
/// \throws inexact unless each timer either fired or was cancelled
template <class Timers>
timer_round insert_and_cancel(Timers& timers, const std::vector<nanoseconds>& delays) {
    using handles = std::vector<typename Timers::handle>;
    std::atomic<std::size_t> fired{0};
    const auto fire = [counter = &fired] { counter->fetch_add(1); };

    // Constructing the handles touches their memory, so measuring afterwards excludes an array that
    // is only the caller's.
    double before = resident_bytes();
    handles all(delays.size());
    if (!Timers::handle_is_timer) {
        before = resident_bytes();
    }
    timer_round result;
    const auto start = clock::now();
    for (std::size_t i = 0; i < delays.size(); ++i) {
        timers.start(all[i], delays[i], fire);
    }
    result.insert_seconds = seconds_since(start);
    result.resident_growth = resident_bytes() - before;

    std::size_t cancelled = 0;
    const auto first_cancel = clock::now();
    for (typename Timers::handle& one : all) {
        cancelled += timers.cancel(one) ? 1U : 0U;
    }
    result.cancel_seconds = seconds_since(first_cancel);
    timers.settle();
    result.gone_seconds = seconds_since(first_cancel);
    timers.run_until([&] { return fired + cancelled >= delays.size(); });
    require_equal(fired + cancelled, delays.size(), "timers fired or cancelled");
    if constexpr (requires { timers.forget_handles(); }) {
        timers.forget_handles();
    }
    return result;
}

/// Takes the memory from the first round, when the process has no freed memory to reuse, and the
/// rates from the second.
template <class Timers>
figures w11_insert_cancel(std::size_t size) {
    const std::vector<nanoseconds> delays =
        random_delays(size, std::chrono::seconds{1}, std::chrono::seconds{60});
    Timers timers;
    const timer_round fresh = insert_and_cancel(timers, delays);
    const timer_round warm = insert_and_cancel(timers, delays);
    const auto count = static_cast<double>(size);
    return {{"Minserts_s", count / warm.insert_seconds / 1e6},
            {"Mcancels_s", count / warm.cancel_seconds / 1e6},
            {"Mgone_s", count / warm.gone_seconds / 1e6},
            {"bytes_per_timer", fresh.resident_growth / count}};
}

struct firing {
    clock::time_point due;
    std::atomic<std::int64_t> late_ns{0};
    std::atomic<int> times{0};
};

/// Measures lateness: from the due time to the first instruction of the callback.
template <class Timers>
figures w11_accuracy(std::size_t size) {
    const std::vector<nanoseconds> delays = random_delays(size, nanoseconds{0}, std::chrono::seconds{2});
    std::vector<firing> all(size);
    std::vector<typename Timers::handle> handles(size);
    Timers timers;
    for (std::size_t i = 0; i < size; ++i) {
        if constexpr (requires { timers.refresh_clock(); }) {
            timers.refresh_clock();
        }
        all[i].due = clock::now() + delays[i];
        timers.start(handles[i], delays[i], [one = &all[i]] {
            one->late_ns = (clock::now() - one->due).count();
            ++one->times;
        });
    }
    const auto done = [&] {
        return std::all_of(all.begin(), all.end(), [](const firing& one) { return one.times > 0; });
    };
    timers.run_until(done);

    std::vector<double> late_us;
    for (const firing& one : all) {
        require_equal(static_cast<std::size_t>(one.times), 1, "firings of one timer");
        late_us.push_back(static_cast<double>(one.late_ns) / 1e3);
    }
    const double p50 = percentile(late_us, 0.5);
    const double p99 = percentile(late_us, 0.99);
    return {{"late_p50_us", p50}, {"late_p99_us", p99}, {"late_worst_us", late_us.back()}};
}

}  // namespace bench
