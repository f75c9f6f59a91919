// The simulated pool and its events. Callers use simulate().
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <spool/pool/admission.hpp>
#include <utility>
#include <vector>

#include "cpu_share.hpp"
#include "run_record.hpp"
#include "simulator.hpp"

namespace spool::lab {

class simulated_pool {
public:
    simulated_pool(run_record& record, const simulation& how);
    void run();

private:
    using task_index = std::uint32_t;
    static constexpr nanoseconds never = nanoseconds::max();

    // An idle worker.
    struct idler {
        nanoseconds since;
        nanoseconds until;  // when its keep-alive ends, or never
    };
    // A running task, and whether the submitter runs it.
    struct job {
        task_index task;
        bool in_caller;
    };
    using timed = std::pair<nanoseconds, std::uint64_t>;
    using time_order = std::priority_queue<timed, std::vector<timed>, std::greater<>>;

    [[nodiscard]] pool_control control() const noexcept { return {run_state::running, workers_}; }
    [[nodiscard]] admission::sizes sizes() const noexcept { return now_set_.sizes(); }
    [[nodiscard]] nanoseconds next_arrival() const;
    [[nodiscard]] nanoseconds next_event() const;
    [[nodiscard]] bool over() const;
    void pass_time_to(nanoseconds t);

    // Arrival of a task.
    void arrive();
    bool admit(task_index i);
    bool offer(task_index i);
    void refuse(task_index i);
    void note_refusal(task_index i);
    void lose(task_index i);

    // Execution of tasks.
    void begin(task_index i, bool in_caller);
    void end(std::uint64_t packed);

    // Workers.
    void start_worker() { largest_ = std::max(largest_, ++workers_); }
    void fetch();
    void leave();
    void wait(nanoseconds since);
    void end_idlers();
    void change_settings(const change& c);

    run_record& record_;
    const std::vector<planned_task>& plan_;
    settings now_set_;
    nanoseconds now_{0};
    nanoseconds next_sample_{0};

    std::size_t next_planned_ = 0;
    std::size_t next_change_ = 0;
    time_order retries_;
    bool caller_busy_ = false;

    std::size_t workers_ = 0;
    std::size_t largest_ = 0;
    std::uint32_t active_ = 0;
    std::deque<task_index> queue_;
    std::deque<idler> idle_;
    nanoseconds next_time_out_ = never;  // lower bound of all `until` in idle_
    time_order sleeping_;                // blocking tasks, ordered by end
    cpu_share computing_;
};

}  // namespace spool::lab
