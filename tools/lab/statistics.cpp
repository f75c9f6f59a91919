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

struct durations {
    std::vector<nanoseconds> wait, run, latency;

    void add(const planned_task& task, const outcome& o, bool waits_only) {
        wait.push_back(o.start - task.arrival);
        if (!waits_only) {
            run.push_back(o.end - o.start);
            latency.push_back(o.end - task.arrival);
        }
    }
    void into(task_summary& s) {
        s.wait = percentiles_of(wait);
        s.run = percentiles_of(run);
        s.latency = percentiles_of(latency);
    }
};

// A round length that makes about 120 slots, a multiple of the sample period.
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
    // From the highest down: what is below one is all that the next has to look at.
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
    // A lost task was refused its last time; the others were taken in the end.
    const std::uint64_t taken = arrived - std::min(arrived, lost);
    const auto given = static_cast<double>(taken + refusals);
    return given == 0 ? 0 : static_cast<double>(refusals) / given;
}

double task_summary::late_share() const {
    return with_deadline == 0 ? 0 : static_cast<double>(late) / static_cast<double>(with_deadline);
}

namespace {

run_summary summarise_all(const run_record& run, bool waits_only) {
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
            continue;  // the run was over before it came
        }
        const nanoseconds deadline = run.what.classes[task.of_class].deadline;
        count(s.all, task, o, deadline);
        count(s.classes[task.of_class], task, o, deadline);
        if (o.how == fate::completed) {
            all.add(task, o, waits_only);
            if (by_class.size() > 1) {
                by_class[task.of_class].add(task, o, waits_only);
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
    return summarise_all(run, false);
}
run_summary summarise_waits(const run_record& run) {
    return summarise_all(run, true);
}

std::vector<slot> over_time(const run_record& run) {
    const nanoseconds whole = run.interrupted ? run.length : std::max(run.length, run.what.duration);
    const nanoseconds length = std::min(whole, sampled_until(run.what));
    const nanoseconds width = slot_length(length);
    std::vector<slot> slots(
        static_cast<std::size_t>(std::max<nanoseconds::rep>(1, (length + width / 2) / width)));
    struct gathered {
        std::vector<nanoseconds> waits, runs;
        double samples = 0;
    };
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
        if (o.how == fate::completed) {
            in[at(o.start)].waits.push_back(o.start - arrival);
            in[at(o.end)].runs.push_back(o.end - o.start);
            slots[at(o.end)].completed += each;
        }
    }
    for (const nanoseconds t : run.refusal_times) {
        slots[at(t)].refused += each;
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
        const double n = std::max(1.0, in[i].samples);
        s.at = width * static_cast<nanoseconds::rep>(i);
        s.workers /= n;
        s.active /= n;
        s.queued /= n;
        s.wait_p50 = quantile(in[i].waits, 0.5);
        s.wait_p99 = quantile(in[i].waits, 0.99);
        s.wait_p999 = quantile(in[i].waits, 0.999);
        s.run_p50 = quantile(in[i].runs, 0.5);
        s.run_p99 = quantile(in[i].runs, 0.99);
    }
    return slots;
}

}  // namespace spool::lab
