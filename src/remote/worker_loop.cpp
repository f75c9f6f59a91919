// The two threads of a worker.
#include <algorithm>
#include <cstdio>

#include "spool/base/error.hpp"
#include "spool/remote/error.hpp"
#include "worker_core.hpp"

namespace spool::inline v1::remote::detail {
namespace {

constexpr std::chrono::milliseconds reconnect_pause{100};
constexpr std::size_t tidy_batch = 1000;
constexpr std::chrono::seconds report_interval{10};

duration to_duration(std::chrono::nanoseconds d) {
    return std::chrono::ceil<duration>(d);
}

}  // namespace

void worker_core::start() {
    {
        const lock_guard lock{mutex_};
        if (is_started_ || is_closing_) {
            return;
        }
        is_started_ = true;
    }
    loop_thread_ = std::thread{[this] { loop(); }};
    keeper_ = std::thread{[this] { keep(); }};
}

void worker_core::run(std::stop_token stop) {
    const std::stop_callback on_stop{stop, [this] { request_close(); }};
    start();
    {
        const lock_guard lock{mutex_};
        while (!is_closing_) {
            changed_.wait(mutex_);
        }
    }
    close();
}

void worker_core::request_close() {
    std::vector<std::shared_ptr<execution>> unstarted;
    {
        const lock_guard lock{mutex_};
        if (!is_closing_) {
            is_closing_ = true;
            give_up_at_ = deadline::after(std::chrono::nanoseconds{options_.close_limit});
        }
        for (const auto& [id, e] : held_) {
            unstarted.push_back(e);
        }
        changed_.notify_all();
    }
    for (const std::shared_ptr<execution>& e : unstarted) {
        stop_execution(e, stop_cause::closing);
    }
    interrupt();
}

void worker_core::close() {
    request_close();
    const lock_guard one_at_a_time{close_mutex_};
    if (loop_thread_.joinable()) {
        loop_thread_.join();
    }
    if (keeper_.joinable()) {
        keeper_.join();
    }
}

void worker_core::interrupt() {
    const lock_guard lock{mutex_};
    changed_.notify_all();
    if (news_ != nullptr) {
        news_->interrupt();
    }
}

// One line per change of the reason, so that an absent broker does not fill the log.
void worker_core::complain(const std::string& what) noexcept {
    const lock_guard lock{mutex_};
    if (what != last_complaint_) {
        last_complaint_ = what;
        std::fprintf(stderr, "spool: remote::worker \"%s\": %s\n", name_.c_str(), what.c_str());
    }
}

worker_counts worker_core::counts() {
    const lock_guard lock{mutex_};
    worker_counts counts = counts_;
    counts.running = static_cast<std::size_t>(
        std::count_if(held_.begin(), held_.end(), [](const auto& e) { return !e.second->has_ended; }));
    return counts;
}

void worker_core::enlist() {
    worker_record record{id_, name_, {}};
    for (const auto& [name, h] : handlers_) {
        record.functions.push_back(name);
    }
    options_.broker->enlist(record);
}

// Ends when close() was called and everything is reported, or when the broker stayed away for the
// close limit. A failure of the broker leads to a new subscription.
void worker_core::loop() {
    while (true) {
        bool is_done = false;
        try {
            enlist();
            subscription_topics topics{{}, {}, id_};
            for (const queue_weight& q : options_.queues) {
                topics.queues.push_back(q.queue);
            }
            const std::shared_ptr<subscription> news = options_.broker->subscribe(std::move(topics));
            {
                const lock_guard lock{mutex_};
                news_ = news;
            }
            while (loop_once(*news)) {}
            is_done = true;
            const lock_guard lock{mutex_};
            news_ = nullptr;
        } catch (const std::exception& e) {
            complain(e.what());
        }
        if (is_done) {
            try {
                options_.broker->retire(id_);
            } catch (const broker_error&) {
                // The broker forgets a worker that is gone.
            }
            break;
        }
        const deadline until = deadline::after(reconnect_pause);
        const lock_guard lock{mutex_};
        news_ = nullptr;
        const bool runs =
            std::any_of(held_.begin(), held_.end(), [](auto& e) { return !e.second->has_ended; });
        if (is_closing_ && give_up_at_.expired() && !runs) {
            break;  // others run the jobs again when the leases end
        }
        while (!until.expired()) {
            changed_.wait_until(mutex_, until.when());
        }
    }
    const lock_guard lock{mutex_};
    loop_has_ended_ = true;
    changed_.notify_all();
}

bool worker_core::loop_once(subscription& news) {
    deliver_outcomes();
    const std::size_t free = room();
    duration next = to_duration(options_.poll);
    if (free != 0) {
        next = std::min(next, take_jobs(free));
    }
    {
        const lock_guard lock{mutex_};
        if (is_closing_ && held_.empty() && outbox_.empty() && to_hand_back_.empty()) {
            return false;
        }
    }
    const wake_up wake = news.wait_until(deadline::after(next));
    request_stops(wake.stop_requested);
    return true;
}

// Answers when to ask again at the latest.
duration worker_core::take_jobs(std::size_t free) {
    take_request request;
    request.worker = id_;
    request.limit = free;
    request.lease = to_duration(options_.lease);
    request.queues = weights_.share(free);
    for (const auto& [name, h] : handlers_) {
        request.functions.push_back(name);
    }
    taken_jobs taken = options_.broker->take(request);
    std::map<std::string, std::size_t> counts;
    for (const leased_job& job : taken.jobs) {
        ++counts[job.queue];
    }
    weights_.unused(request.queues, counts);
    for (leased_job& job : taken.jobs) {
        start_job(std::move(job));
    }
    return std::max(taken.next_in, duration{0});
}

void worker_core::deliver_outcomes() {
    std::vector<job_outcome> outcomes;
    std::vector<lease> leases;
    {
        const lock_guard lock{mutex_};
        outcomes.swap(outbox_);
        leases.swap(to_hand_back_);
    }
    std::vector<finish_status> statuses;
    std::size_t returned = 0;
    try {
        if (!outcomes.empty()) {
            statuses = finish_all(outcomes);
        }
        if (!leases.empty()) {
            returned = options_.broker->hand_back(leases, duration{0});
        }
    } catch (const broker_error&) {
        const lock_guard lock{mutex_};
        if (statuses.empty()) {  // else finished: a second report would be stale, which is harmless
            outbox_.insert(outbox_.begin(), std::make_move_iterator(outcomes.begin()),
                           std::make_move_iterator(outcomes.end()));
        }
        to_hand_back_.insert(to_hand_back_.end(), leases.begin(), leases.end());
        throw;
    }
    const lock_guard lock{mutex_};
    counts_.handed_back += returned;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        held_.erase(outcomes[i].lease.id);
        ++(statuses[i] == finish_status::stale ? counts_.lost : counts_.finished);
    }
}

// One outcome that the broker can never store must not hold back the others.
std::vector<finish_status> worker_core::finish_all(const std::vector<job_outcome>& outcomes) {
    try {
        return options_.broker->finish(outcomes);
    } catch (const broker_error& e) {
        if (e.is_transient() || outcomes.size() == 0) {
            throw;
        }
    }
    std::vector<finish_status> statuses;
    for (const job_outcome& outcome : outcomes) {
        try {
            statuses.push_back(options_.broker->finish({&outcome, 1}).front());
        } catch (const broker_error& e) {
            if (e.is_transient()) {
                throw;
            }
            complain("job " + outcome.lease.id.text() + ": the broker refuses its outcome: " + e.what());
            statuses.push_back(finish_status::stale);
        }
    }
    return statuses;
}

void worker_core::request_stops(const std::vector<job_id>& ids) {
    for (const job_id& id : ids) {
        std::shared_ptr<execution> e;
        {
            const lock_guard lock{mutex_};
            const auto found = held_.find(id);
            e = found == held_.end() ? nullptr : found->second;
        }
        if (e != nullptr) {
            stop_execution(e, stop_cause::cancelled);
        }
    }
}

// Renews at a third of the lease. While the broker is away, tries again more often: an expired
// lease is still ours until another worker takes it.
void worker_core::keep() {
    const auto third = std::chrono::nanoseconds{options_.lease} / 3;
    deadline next = deadline::after(third);
    while (true) {
        {
            const lock_guard lock{mutex_};
            deadline wake = next;
            for (const auto& [id, e] : held_) {
                if (e->has_begun && !e->has_ended && e->cause == stop_cause::none) {
                    wake = std::min(wake, e->time_limit);
                }
            }
            if (loop_has_ended_) {
                return;
            }
            if (!wake.expired()) {
                changed_.wait_until(mutex_, wake.when());
            }
        }
        enforce_limits();
        if (!next.expired()) {
            continue;
        }
        next = deadline::after(third);
        try {
            renew_leases();
            options_.broker->tidy(tidy_batch);
            report_unserved();
        } catch (const std::exception& e) {
            complain(e.what());
            next = deadline::after(std::min<std::chrono::nanoseconds>(third, std::chrono::milliseconds{200}));
        }
    }
}

void worker_core::renew_leases() {
    std::vector<lease> leases;
    std::vector<std::shared_ptr<execution>> executions;
    {
        const lock_guard lock{mutex_};
        for (const auto& [id, e] : held_) {
            // A handler that ignores its time limit loses its lease (see enforce_limits()).
            if (e->cause != stop_cause::lost && (e->has_ended || e->cause != stop_cause::time_limit)) {
                leases.push_back({e->job.id, e->job.fence});
                executions.push_back(e);
            }
        }
    }
    if (leases.empty()) {
        return;
    }
    const std::vector<renew_status> statuses = options_.broker->renew(leases, to_duration(options_.lease));
    for (std::size_t i = 0; i < statuses.size(); ++i) {
        if (statuses[i] == renew_status::stop_requested) {
            stop_execution(executions[i], stop_cause::cancelled);
        } else if (statuses[i] == renew_status::lost) {
            {
                // The loop may have finished the job since: then the lease is not lost but used up.
                const lock_guard lock{mutex_};
                const auto found = held_.find(leases[i].id);
                if (found == held_.end() || found->second != executions[i] || executions[i]->has_ended) {
                    continue;
                }
                ++counts_.lost;
            }
            stop_execution(executions[i], stop_cause::lost);
        }
    }
}

void worker_core::enforce_limits() {
    std::vector<std::shared_ptr<execution>> late;
    {
        const lock_guard lock{mutex_};
        for (const auto& [id, e] : held_) {
            if (e->has_begun && !e->has_ended && e->cause == stop_cause::none && e->time_limit.expired()) {
                late.push_back(e);
            }
        }
    }
    for (const std::shared_ptr<execution>& e : late) {
        stop_execution(e, stop_cause::time_limit);
    }
}

void worker_core::report_unserved() {
    if (!next_report_.expired()) {
        return;
    }
    next_report_ = deadline::after(report_interval);
    std::vector<std::string> queues;
    for (const queue_weight& q : options_.queues) {
        queues.push_back(q.queue);
    }
    for (const std::string& function : options_.broker->unserved(queues)) {
        if (std::find(reported_.begin(), reported_.end(), function) == reported_.end()) {
            reported_.push_back(function);
            complain("jobs of function \"" + function + "\" are queued, and no worker has it");
        }
    }
}

}  // namespace spool::inline v1::remote::detail
