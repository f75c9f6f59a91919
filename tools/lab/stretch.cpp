#include "stretch.hpp"

#include "duration_text.hpp"
#include "simulator.hpp"

namespace spool::lab {
namespace {

// Compares the completed tasks of one kind of work. `expected(i)` returns how long task `i` should
// have run; nothing excludes the task. Returns nothing if no task remains.
template <class F>
std::optional<stretch> compare(const run_record& run, bool cpu, F expected) {
    double took = 0;
    double should = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < run.outcomes.size(); ++i) {
        const outcome& o = run.outcomes[i];
        if (o.how != fate::completed || run.what.classes[(*run.plan)[i].of_class].cpu != cpu) {
            continue;
        }
        if (const std::optional<nanoseconds> one = expected(i); one.has_value()) {
            took += seconds(o.end - o.start);
            should += seconds(*one);
            ++count;
        }
    }
    if (count == 0) {
        return std::nullopt;
    }
    const auto n = static_cast<double>(count);
    return stretch{.took = from_seconds(took / n), .expected = from_seconds(should / n)};
}

}  // namespace

std::optional<stretch> cpu_stretch(const run_record& run) {
    if (run.simulated || !run.what.cpu_bound()) {
        return std::nullopt;
    }
    const run_record ideal = simulate(run.what, run.plan);
    return compare(run, true, [&](std::size_t i) {
        const outcome& o = ideal.outcomes[i];
        return o.how == fate::completed ? std::optional{o.end - o.start} : std::nullopt;
    });
}

std::optional<stretch> blocking_stretch(const run_record& run) {
    if (run.simulated) {
        return std::nullopt;
    }
    return compare(run, false, [&](std::size_t i) {
        const planned_task& t = (*run.plan)[i];
        return std::optional{scaled(t.service, service_factor(run.what, t.of_class, run.outcomes[i].start))};
    });
}

}  // namespace spool::lab
