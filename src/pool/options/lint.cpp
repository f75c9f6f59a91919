// The rules of lint(): each looks at the settings, and at the load as far as the load is known.
#include "spool/pool/lint.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "spool/pool/run_state.hpp"

namespace spool::inline v1 {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds default_keep_alive = std::chrono::seconds{60};
constexpr nanoseconds shortest_sensible_keep_alive = std::chrono::milliseconds{10};
constexpr std::size_t many_threads = 1000;
constexpr double headroom = 0.9;     // above this load the waits of a pool grow steeply
constexpr double planned_use = 0.7;  // how much of its time a worker of a well-sized pool is busy

std::string number(double n) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, n < 10 ? "%.2g" : "%.0f", n);
    return buffer;
}

// Nanoseconds as a double: a product of settings may exceed what std::chrono::nanoseconds can hold.
std::string text_of(double ns) {
    if (ns >= 1e9) {
        return number(ns / 1e9) + " s";
    }
    return ns >= 1e6 ? number(ns / 1e6) + " ms" : number(ns / 1e3) + " us";
}
std::string text_of(nanoseconds d) {
    return text_of(static_cast<double>(d.count()));
}

// The settings that the rules read, and what follows from them.
struct facts {
    const pool_options& options;
    const workload_hint& load;
    std::vector<lint_finding>& found;

    [[nodiscard]] std::size_t core() const { return options.core_size; }
    [[nodiscard]] std::size_t maximum() const { return options.maximum_size; }
    [[nodiscard]] nanoseconds keep_alive() const { return options.keep_alive; }
    [[nodiscard]] std::size_t capacity() const { return options.queue->capacity(); }
    [[nodiscard]] bool unbounded() const { return capacity() == blocking_queue<task>::unlimited; }
    [[nodiscard]] bool hand_off() const { return capacity() == 0; }
    /// The most workers that the pool will ever have.
    [[nodiscard]] std::size_t reachable() const {
        return unbounded() ? std::max<std::size_t>(core(), 1) : maximum();
    }
    /// How many workers the load keeps busy on average, by Little's law; 0: not known.
    [[nodiscard]] double busy() const {
        return load.arrivals_per_second * static_cast<double>(load.mean_service.count()) / 1e9;
    }
    /// How many tasks make progress at the same time.
    [[nodiscard]] std::size_t lanes() const {
        return load.cpu_bound && load.cpus > 0 ? std::min(reachable(), load.cpus) : reachable();
    }
    void report(lint_severity severity, const char* id, std::string happens, std::string advice) const {
        found.push_back({severity, id, std::move(happens), std::move(advice)});
    }
};

std::string sizes_of(const facts& f) {
    return "core_size " + std::to_string(f.core()) + ", maximum_size " + std::to_string(f.maximum());
}

// ---- What the constructor refuses

void missing_parts(const facts& f) {
    const auto missing = [&f](bool is_missing, const char* id, const char* what, const char* advice) {
        if (is_missing) {
            f.report(lint_severity::error, id, std::string{"The constructor throws: "} + what + ".", advice);
        }
    };
    missing(f.options.queue == nullptr, "no-queue", "the queue is null",
            "Leave it out for an unbounded one.");
    missing(!f.options.thread_factory, "no-thread-factory", "the thread factory is empty",
            "Leave it out for the default.");
    missing(!f.options.rejection, "no-rejection-policy", "the rejection policy is empty",
            "Leave it out for abort_policy.");
}

void impossible_sizes(const facts& f) {
    const auto refuse = [&f](const char* id, const char* what, const char* advice) {
        f.report(lint_severity::error, id,
                 std::string{"The constructor throws: "} + what + " (" + sizes_of(f) + ").", advice);
    };
    if (f.core() > largest_pool || f.maximum() > largest_pool) {
        const bool was_negative =
            std::max(f.core(), f.maximum()) > std::numeric_limits<std::size_t>::max() / 2;
        refuse("size-out-of-range", "a size is out of range",
               was_negative ? "A negative number? Sizes are counts." : "Sizes are counts of threads.");
    } else if (f.maximum() == 0) {
        refuse("maximum-zero", "a pool of no threads runs nothing", "Set maximum_size to 1 or more.");
    } else if (f.maximum() < f.core()) {
        refuse("maximum-below-core", "the maximum is below the core size",
               "Raise maximum_size, or lower core_size.");
    }
}

void impossible_keep_alive(const facts& f) {
    if (f.keep_alive() < nanoseconds::zero()) {
        f.report(lint_severity::error, "negative-keep-alive",
                 "The constructor throws: the keep-alive is negative.", "Set it to how long to wait.");
    } else if (f.keep_alive() == nanoseconds::zero() && f.options.core_threads_may_time_out) {
        f.report(lint_severity::error, "zero-keep-alive-with-core-time-out",
                 "The constructor throws: core threads would come and go with every task.",
                 "Set a keep-alive above zero, or let core threads stay.");
    }
}

// ---- What few people want

void maximum_never_reached(const facts& f) {
    if (f.unbounded() && f.maximum() > std::max<std::size_t>(f.core(), 1)) {
        f.report(lint_severity::warning, "maximum-never-reached",
                 "The queue is unbounded and never refuses a task, so the pool never has more than " +
                     std::to_string(f.reachable()) + " worker(s): the maximum of " +
                     std::to_string(f.maximum()) + " never happens.",
                 "Bound the queue, so that the pool grows when it is full; or raise core_size to " +
                     std::to_string(f.maximum()) + " and let core threads time out.");
    }
}

void one_worker_only(const facts& f) {
    if (f.core() == 0 && !f.hand_off() && f.maximum() > 1) {
        const std::string until = f.unbounded()
                                      ? "for ever: the queue is never full"
                                      : "until " + std::to_string(f.capacity()) + " tasks wait in the queue";
        f.report(
            lint_severity::warning, "one-worker-only",
            "With core_size 0 a single worker runs one task after the other, " + until + ".",
            "Set core_size to how many tasks should run at once, and core_threads_may_time_out if the pool "
            "is to shrink to nothing.");
    }
}

void hand_off_small_maximum(const facts& f) {
    const bool small = f.busy() > 0 ? static_cast<double>(f.maximum()) < 2 * f.busy()
                                    : f.maximum() < std::max<std::size_t>(8, 2 * f.load.cpus);
    if (f.hand_off() && f.core() == 0 && small) {
        f.report(lint_severity::warning, "hand-off-small-maximum",
                 "Nothing waits in a hand-off queue: while " + std::to_string(f.maximum()) +
                     " task(s) run, every further one is refused, however short the burst.",
                 "Raise maximum_size to the most tasks that come at once, or give the pool a bounded queue.");
    }
}

void keep_alive_too_short(const facts& f) {
    const bool applies =
        f.options.core_threads_may_time_out || (f.maximum() > f.core() && (!f.unbounded() || f.core() == 0));
    if (applies && f.keep_alive() >= nanoseconds::zero() && f.keep_alive() < shortest_sensible_keep_alive) {
        f.report(lint_severity::warning, "keep-alive-too-short",
                 "A worker leaves after " + text_of(f.keep_alive()) +
                     " without a task: threads are started and ended all the time, which costs more than "
                     "letting them wait.",
                 "Set the keep-alive to a few times the usual gap between bursts; seconds, rather than "
                 "milliseconds.");
    }
}

void overload(const facts& f) {
    const auto lanes = static_cast<double>(f.lanes());
    if (f.busy() <= lanes * headroom) {
        return;
    }
    const bool over = f.busy() > lanes;
    f.report(lint_severity::warning, "overload",
             number(f.load.arrivals_per_second) + " tasks/s of " + text_of(f.load.mean_service) +
                 " each keep " + number(f.busy()) + " workers busy, and at most " +
                 std::to_string(f.lanes()) + " make progress at a time: " +
                 (over ? (f.unbounded() ? "the queue grows for as long as the load lasts."
                                        : "the queue fills, and what does not fit is refused.")
                       : "there is hardly any room for a burst, and waits are long."),
             f.load.cpu_bound
                 ? "More threads do not help here: make the tasks cheaper, add CPUs, or refuse early."
                 : "Plan for at least " + number(f.busy() / planned_use) + " workers.");
}

// The pool starts a worker above the core only when the queue is full. So a core below the mean
// load keeps the queue full. A queue no longer than the core is harmless: a task waits for at most
// one other.
void core_below_load(const facts& f) {
    const auto core = static_cast<double>(std::max<std::size_t>(f.core(), 1));
    if (f.unbounded() || static_cast<double>(f.capacity()) <= core) {
        return;
    }
    const bool grows_enough = f.busy() > core && f.busy() <= static_cast<double>(f.lanes());
    if (grows_enough) {
        // Little's law, for a queue that stays full.
        const double wait = static_cast<double>(f.capacity()) / f.load.arrivals_per_second * 1e9;
        const double enough = std::min(std::ceil(f.busy() / planned_use), static_cast<double>(f.lanes()));
        f.report(lint_severity::warning, "core-below-load",
                 number(f.load.arrivals_per_second) + " tasks/s of " + text_of(f.load.mean_service) +
                     " each keep " + number(f.busy()) + " workers busy on average, and the core has " +
                     std::to_string(f.core()) + ". The pool starts another worker only when the queue of " +
                     std::to_string(f.capacity()) + " is full: by then a task waits about " + text_of(wait) +
                     ".",
                 "Raise core_size to " + number(enough) +
                     ", and set core_threads_may_time_out if the pool is to shrink when it is idle.");
    }
}

void queue_outlasts_deadline(const facts& f) {
    if (f.load.deadline <= nanoseconds::zero() || f.load.mean_service <= nanoseconds::zero() ||
        f.hand_off() || f.unbounded()) {
        return;
    }
    const auto service = static_cast<double>(f.load.mean_service.count());
    const auto lanes = static_cast<double>(f.lanes());
    const double drain = static_cast<double>(f.capacity()) * service / lanes;
    const auto limit = static_cast<double>(f.load.deadline.count());
    if (drain > limit) {
        f.report(lint_severity::warning, "queue-outlasts-deadline",
                 "A full queue of " + std::to_string(f.capacity()) + " takes " + text_of(drain) +
                     " to drain, and nobody waits longer than " + text_of(f.load.deadline) +
                     ": under overload the pool works for those who have gone.",
                 "Bound the queue at about " + number(std::max(1.0, std::floor(limit * lanes / service))) +
                     " and let the rest be refused at once.");
    }
}

void more_threads_than_cpus(const facts& f) {
    if (f.load.cpu_bound && f.load.cpus > 0 && f.reachable() > f.load.cpus) {
        f.report(
            lint_severity::warning, "more-threads-than-cpus",
            "Up to " + std::to_string(f.reachable()) + " threads compute on " + std::to_string(f.load.cpus) +
                " CPU(s) of this container: they take turns, every task takes longer, and a quota is used "
                "up early in its period.",
            "Set both sizes to " + std::to_string(f.load.cpus) + " (spool::default_parallelism()).");
    }
}

void discard_oldest_without_queue(const facts& f) {
    if (f.hand_off() && f.options.rejection.target<discard_oldest_policy>() != nullptr) {
        f.report(lint_severity::warning, "discard-oldest-without-queue",
                 "A hand-off queue holds nothing that could be discarded: it is the new task that goes.",
                 "Use discard_policy, which says so, or a bounded queue.");
    }
}

// ---- What has no effect

void keep_alive_without_effect(const facts& f) {
    const bool never_above_core = f.maximum() == f.core() || (f.unbounded() && f.core() > 0);
    if (never_above_core && !f.options.core_threads_may_time_out && f.keep_alive() != default_keep_alive) {
        f.report(lint_severity::note, "keep-alive-without-effect",
                 "No worker is ever above the core size of " + std::to_string(f.core()) +
                     ", and core threads stay: the keep-alive of " + text_of(f.keep_alive()) +
                     " never applies.",
                 "Leave it out, or set core_threads_may_time_out.");
    }
}

void rejection_without_effect(const facts& f) {
    if (f.unbounded() && f.options.rejection.target<abort_policy>() == nullptr) {
        f.report(lint_severity::note, "rejection-without-effect",
                 "An unbounded queue refuses nothing: the rejection policy is asked only after shutdown, and "
                 "under "
                 "overload the queue grows until the memory is used up.",
                 "Bound the queue at what can still be answered in time.");
    }
}

void threads_without_limit(const facts& f) {
    if (f.hand_off() && f.maximum() >= many_threads) {
        f.report(lint_severity::note, "threads-without-limit",
                 "Every task that finds nobody idle starts a thread, up to " + std::to_string(f.maximum()) +
                     ": when tasks slow down, threads and their stacks pile up instead of tasks.",
                 "Fine for short tasks of a trusted source; else set a maximum that the machine can bear.");
    }
}

constexpr std::array rules{
    maximum_never_reached,
    one_worker_only,
    hand_off_small_maximum,
    keep_alive_too_short,
    overload,
    core_below_load,
    queue_outlasts_deadline,
    more_threads_than_cpus,
    discard_oldest_without_queue,
    keep_alive_without_effect,
    rejection_without_effect,
    threads_without_limit,
};

}  // namespace

std::string_view to_string(lint_severity s) noexcept {
    switch (s) {
        case lint_severity::note: return "note";
        case lint_severity::warning: return "warning";
        case lint_severity::error: return "error";
    }
    return "?";
}

std::vector<lint_finding> lint(const pool_options& options, const workload_hint& load) {
    std::vector<lint_finding> found;
    const facts f{options, load, found};
    missing_parts(f);
    impossible_sizes(f);
    impossible_keep_alive(f);
    if (!found.empty()) {
        return found;  // of a pool that cannot be, nothing more can be said
    }
    for (const auto& rule : rules) {
        rule(f);
    }
    return found;
}

}  // namespace spool::inline v1
