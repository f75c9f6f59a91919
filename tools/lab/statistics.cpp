#include "statistics.hpp"

#include <algorithm>
#include <cmath>

#include "duration_text.hpp"

namespace spool::lab {
namespace {

void count(task_summary& into, const planned_task& task, const outcome& o, nanoseconds deadline) {
    ++into.arrived;
    into.refusals += o.refusals;
    into.completed += o.how == fate::completed ? 1U : 0U;
    into.lost += o.how == fate::refused ? 1U : 0U;
    if (deadline > nanoseconds::zero() && o.how != fate::abandoned) {
        ++into.with_deadline;
        const bool in_time = o.how == fate::completed && o.end - task.arrival <= deadline;
        into.late += in_time ? 0U : 1U;
    }
}

// Which durations to summarise besides the waits.
struct wanted {
    bool run;
    bool latency;
};

struct durations {
    std::vector<nanoseconds> wait, run, latency;

    void add(const planned_task& task, const outcome& o, wanted what) {
        wait.push_back(o.start - task.arrival);
        if (what.run) {
            run.push_back(o.end - o.start);
        }
        if (what.latency) {
            latency.push_back(o.end - task.arrival);
        }
    }
    void into(task_summary& s) {
        s.wait = percentiles_of(wait);
        s.run = percentiles_of(run);
        s.latency = percentiles_of(latency);
    }
};

// Returns a round slot length, a multiple of the sample period: the shortest that makes at most 150
// slots, else a minute.
nanoseconds slot_length(nanoseconds length) {
    constexpr std::chrono::milliseconds choices[] = {
        std::chrono::milliseconds{20},   std::chrono::milliseconds{50},   std::chrono::milliseconds{100},
        std::chrono::milliseconds{200},  std::chrono::milliseconds{500},  std::chrono::milliseconds{1000},
        std::chrono::milliseconds{5000}, std::chrono::milliseconds{10000}};
    for (const nanoseconds choice : choices) {
        if (length / choice <= 150) {
            return choice;
        }
    }
    return std::chrono::seconds{60};
}

}  // namespace

template <class T>
T quantile(std::vector<T>& values, double share, T fallback) {
    if (values.empty()) {
        return fallback;
    }
    const auto rank = static_cast<std::ptrdiff_t>(std::ceil(share * static_cast<double>(values.size())));
    const auto nth = values.begin() + std::max<std::ptrdiff_t>(rank - 1, 0);
    std::nth_element(values.begin(), nth, values.end());
    return *nth;
}
template nanoseconds quantile(std::vector<nanoseconds>&, double, nanoseconds);
template std::uint32_t quantile(std::vector<std::uint32_t>&, double, std::uint32_t);

percentiles percentiles_of(std::vector<nanoseconds>& values) {
    percentiles p;
    if (values.empty()) {
        return p;
    }
    // From the highest percentile down: the next one lies in the part below the last.
    auto end = values.end();
    const auto next = [&](double share) {
        const auto rank = static_cast<std::ptrdiff_t>(std::ceil(share * static_cast<double>(values.size())));
        const auto nth = values.begin() + std::max<std::ptrdiff_t>(rank - 1, 0);
        if (nth < end) {
            std::nth_element(values.begin(), nth, end);
            end = nth;
        }
        return *nth;
    };
    p.most = *std::max_element(values.begin(), values.end());
    p.p999 = next(0.999);
    p.p99 = next(0.99);
    p.p95 = next(0.95);
    p.p90 = next(0.9);
    p.p50 = next(0.5);
    return p;
}

double task_summary::refusal_share() const {
    // The last attempt of a lost task was a rejection; every other task was accepted once.
    const std::uint64_t taken = arrived - std::min(arrived, lost);
    const auto given = static_cast<double>(taken + refusals);
    return given == 0 ? 0 : static_cast<double>(refusals) / given;
}

double task_summary::late_share() const {
    return with_deadline == 0 ? 0 : static_cast<double>(late) / static_cast<double>(with_deadline);
}

namespace {

run_summary summarise_all(const run_record& run, wanted what) {
    run_summary s;
    s.all.name = "all";
    durations all;
    all.wait.reserve(run.plan->size());
    std::vector<durations> by_class(run.what.classes.size());
    for (const task_class& c : run.what.classes) {
        s.classes.emplace_back().name = c.name;
    }
    for (std::size_t i = 0; i < run.plan->size(); ++i) {
        const planned_task& task = (*run.plan)[i];
        const outcome& o = run.outcomes[i];
        if (o.how == fate::abandoned && o.submitted == nanoseconds::zero()) {
            continue;  // the run ended before its arrival
        }
        const nanoseconds deadline = run.what.classes[task.of_class].deadline;
        count(s.all, task, o, deadline);
        count(s.classes[task.of_class], task, o, deadline);
        if (o.how == fate::completed) {
            all.add(task, o, what);
            if (by_class.size() > 1) {
                by_class[task.of_class].add(task, o, what);
            }
        }
    }
    all.into(s.all);
    for (std::size_t c = 0; c < by_class.size(); ++c) {
        by_class.size() > 1 ? by_class[c].into(s.classes[c]) : all.into(s.classes[c]);
    }
    s.peak_threads = run.largest_pool;
    std::vector<std::uint32_t> queued;
    for (const sample& one : run.samples) {
        if (one.at <= run.what.duration) {
            s.mean_threads += one.workers;
            queued.push_back(one.queued);
        }
    }
    s.mean_threads /= std::max(1.0, static_cast<double>(queued.size()));
    s.p99_queue = quantile(queued, 0.99, 0U);
    s.peak_queue = queued.empty() ? 0 : *std::max_element(queued.begin(), queued.end());
    std::vector<nanoseconds> lateness = run.lateness;
    s.lateness = percentiles_of(lateness);
    s.throughput =
        run.length > nanoseconds::zero() ? static_cast<double>(s.all.completed) / seconds(run.length) : 0;
    return s;
}

}  // namespace

run_summary summarise(const run_record& run) {
    return summarise_all(run, {.run = true, .latency = true});
}
run_summary summarise_waits(const run_record& run, bool with_latency) {
    return summarise_all(run, {.run = false, .latency = with_latency});
}

namespace {

// The durations of a slot, or of a bin of several slots.
struct gathered {
    std::vector<nanoseconds> waits, runs, totals;
    double samples = 0;

    void add(const gathered& other) {
        const auto append = [](std::vector<nanoseconds>& to, const std::vector<nanoseconds>& from) {
            to.insert(to.end(), from.begin(), from.end());
        };
        append(waits, other.waits);
        append(runs, other.runs);
        append(totals, other.totals);
    }
};

constexpr std::size_t enough_for_p99 = 200;
constexpr std::size_t fewest_bins = 8;

void add_percentiles(std::vector<slot>& slots, const std::vector<gathered>& in) {
    const std::size_t widest = std::max<std::size_t>(1, slots.size() / fewest_bins);
    std::size_t bin = 0;
    for (std::size_t begin = 0; begin < slots.size(); ++bin) {
        gathered all;
        std::size_t end = begin;
        do {
            all.add(in[end++]);
        } while (end < slots.size() && end - begin < widest && all.waits.size() < enough_for_p99);
        for (; begin < end; ++begin) {
            slot& s = slots[begin];
            s.bin = bin;
            s.wait_p50 = quantile(all.waits, 0.5);
            s.wait_p99 = quantile(all.waits, 0.99);
            s.run_p50 = quantile(all.runs, 0.5);
            s.run_p99 = quantile(all.runs, 0.99);
            s.total_p50 = quantile(all.totals, 0.5);
            s.total_p99 = quantile(all.totals, 0.99);
        }
    }
}

}  // namespace

std::vector<slot> over_time(const run_record& run) {
    const nanoseconds whole = run.interrupted ? run.length : std::max(run.length, run.what.duration);
    const nanoseconds length = std::min(whole, sampled_until(run.what));
    const nanoseconds width = slot_length(length);
    std::vector<slot> slots(
        static_cast<std::size_t>(std::max<nanoseconds::rep>(1, (length + width / 2) / width)));
    std::vector<gathered> in(slots.size());
    const auto at = [&](nanoseconds t) {
        return std::min(static_cast<std::size_t>(t / width), slots.size() - 1);
    };
    const double each = 1 / seconds(width);
    for (std::size_t i = 0; i < run.plan->size(); ++i) {
        const outcome& o = run.outcomes[i];
        const nanoseconds arrival = (*run.plan)[i].arrival;
        if (arrival <= length) {
            slots[at(arrival)].arrivals += each;
        }
        // An overload may drain long after the last slot; its late tasks belong to no slot.
        if (o.how == fate::completed && o.start <= length) {
            in[at(o.start)].waits.push_back(o.start - arrival);
        }
        if (o.how == fate::completed && o.end <= length) {
            in[at(o.end)].runs.push_back(o.end - o.start);
            in[at(o.end)].totals.push_back(o.end - arrival);
            slots[at(o.end)].completed += each;
        }
    }
    for (const nanoseconds t : run.refusal_times) {
        slots[at(t)].refused += t <= length ? each : 0;
    }
    for (const sample& one : run.samples) {
        slot& s = slots[at(one.at)];
        s.workers += one.workers;
        s.active += one.active;
        s.queued += one.queued;
        s.most_queued = std::max(s.most_queued, one.queued);
        ++in[at(one.at)].samples;
    }
    for (std::size_t i = 0; i < slots.size(); ++i) {
        slot& s = slots[i];
        s.at = width * static_cast<nanoseconds::rep>(i);
        if (in[i].samples > 0) {
            s.workers /= in[i].samples;
            s.active /= in[i].samples;
            s.queued /= in[i].samples;
        } else if (i > 0) {  // a busy machine delayed the observer
            s.workers = slots[i - 1].workers;
            s.active = slots[i - 1].active;
            s.queued = slots[i - 1].queued;
            s.most_queued = slots[i - 1].most_queued;
        }
    }
    add_percentiles(slots, in);
    return slots;
}

}  // namespace spool::lab
