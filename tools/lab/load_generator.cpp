#include "load_generator.hpp"

#include <algorithm>
#include <thread>

#include "work.hpp"

namespace spool::lab {
namespace {

using namespace std::chrono_literals;

constexpr auto longest_sleep = 20ms;  // between two checks of the stop token

}  // namespace

bool load_generator::wait_for(nanoseconds due, const std::stop_token& stop) const {
    for (;;) {
        if (stop.stop_requested()) {
            return false;
        }
        const nanoseconds left = due - to_.now();
        if (left <= nanoseconds::zero()) {
            return true;
        }
        std::this_thread::sleep_for(std::min<nanoseconds>(left, longest_sleep));
    }
}

void load_generator::submit(std::uint32_t i, nanoseconds due) {
    const run_record& record = to_.record();
    recorder::answer& answer = to_.last_answer();
    to_.submitted(i);
    lateness_.push_back(record.outcomes[i].submitted - std::max(due, free_since_));
    pool_.execute(planned_work{to_, i});
    if (std::exchange(answer.ran_here, false)) {
        // The policy made this thread run the task; lateness that follows is not the generator's.
        free_since_ = to_.now();
    }
    for (const std::uint32_t refused : answer.refused) {
        const retry_rule& retry = record.what.classes[(*record.plan)[refused].of_class].retry;
        if (record.what.pool.rejection == refusal::abort &&
            record.outcomes[refused].refusals < retry.attempts) {
            to_.forgive(refused);
            retries_.emplace(to_.now() + retry.after, refused);
        } else {
            to_.give_up(refused);
        }
    }
    answer.refused.clear();
}

void load_generator::run(const std::stop_token& stop) {
    be_submitting_thread();
    ask_for_exact_timers();
    // Under caller_runs this thread also runs tasks, which must not get a higher priority.
    if (to_.record().what.pool.rejection != refusal::caller_runs) {
        ask_to_go_first();
    }
    const std::vector<planned_task>& plan = *to_.record().plan;
    lateness_.reserve(plan.size());
    for (std::size_t next = 0; next < plan.size() || !retries_.empty();) {
        const bool again =
            !retries_.empty() && (next == plan.size() || retries_.top().first <= plan[next].arrival);
        const due_task due =
            again ? retries_.top() : due_task{plan[next].arrival, static_cast<std::uint32_t>(next)};
        if (!wait_for(due.first, stop)) {
            return;
        }
        if (again) {
            retries_.pop();
        } else {
            arrived_ = ++next;
        }
        submit(due.second, due.first);
    }
    finished_ = true;
}

}  // namespace spool::lab
