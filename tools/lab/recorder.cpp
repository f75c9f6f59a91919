#include "recorder.hpp"

#include <spool/base/error.hpp>

#include "duration_text.hpp"
#include "work.hpp"

namespace spool::lab {

recorder::recorder(const scenario& what, std::shared_ptr<const std::vector<planned_task>> plan,
                   steady::time_point start)
    : start_(start), log_(plan->size()) {
    record_.what = what;
    record_.outcomes.resize(plan->size());
    record_.plan = std::move(plan);
}

void recorder::run(std::uint32_t i) {
    const planned_task& task = (*record_.plan)[i];
    outcome& o = record_.outcomes[i];
    o.start = now();
    if (on_submitting_thread()) {  // caller_runs: the pool rejected the task
        ++o.refusals;
        answer_.ran_here = true;
    }
    const double factor = service_factor(record_.what, task.of_class, o.start);
    const nanoseconds service = scaled(task.service, factor);
    try {
        record_.what.classes[task.of_class].cpu ? compute_for(service) : wait_until(at(o.start + service));
        o.how = fate::completed;
    } catch (const spool::interrupted&) {  // the user interrupted the run
        o.how = fate::abandoned;
    }
    o.end = now();
    append(i);
}

void recorder::dropped(std::uint32_t i) noexcept {
    outcome& o = record_.outcomes[i];
    if (!on_submitting_thread()) {  // handed back by shutdown_now()
        o.how = fate::abandoned;
        return;
    }
    o.how = fate::refused;
    ++o.refusals;
    answer_.refused.push_back(i);
}

void recorder::append(std::uint32_t i) noexcept {
    const std::size_t place = next_.fetch_add(1);
    log_[place].store(i + 1, std::memory_order_release);  // publishes the outcome to visit_done()
}

}  // namespace spool::lab
