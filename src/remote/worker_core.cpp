#include "worker_core.hpp"

#include <cxxabi.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "spool/base/error.hpp"
#include "spool/remote/error.hpp"
#include "text.hpp"

namespace spool::inline v1::remote {
namespace detail {
namespace {

thread_local execution* running_here = nullptr;

std::string default_name() {
    char host[256] = "host";
    gethostname(host, sizeof host - 1);
    return std::string(host) + ":" + std::to_string(getpid());
}

std::string make_id(std::string name) {
    std::replace_if(
        name.begin(), name.end(),
        [](unsigned char c) { return std::isalnum(c) == 0 && c != '.' && c != '_'; }, '-');
    return name.substr(0, 64) + "-" + job_id::random().text().substr(0, 16);
}

/// The name of the exception that is being handled.
std::string current_type() {
    const std::type_info* const type = abi::__cxa_current_exception_type();
    if (type == nullptr) {
        return "unknown";
    }
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> name{
        abi::__cxa_demangle(type->name(), nullptr, nullptr, &status), &std::free};
    return name != nullptr ? name.get() : type->name();
}

}  // namespace

/// The task of one job. A pool may destroy it without a run.
class worker_core::job_run {
public:
    job_run(std::shared_ptr<worker_core> core, std::shared_ptr<execution> e)
        : core_(std::move(core)), execution_(std::move(e)) {}
    job_run(job_run&&) noexcept = default;
    job_run& operator=(job_run&&) = delete;
    ~job_run() {
        if (execution_ != nullptr) {
            core_->not_begun(execution_);
        }
    }
    void operator()() { core_->run_job(std::exchange(execution_, nullptr)); }
    [[nodiscard]] int priority() const noexcept {
        return execution_ == nullptr ? 0 : execution_->job.priority;
    }

private:
    std::shared_ptr<worker_core> core_;
    std::shared_ptr<execution> execution_;
};

worker_core::worker_core(worker_options options)
    : options_(std::move(options)),
      name_(options_.name.empty() ? default_name() : options_.name),
      id_(make_id(name_)),
      weights_(options_.queues) {}

void worker_core::add_handler(std::string_view name, std::uint64_t signature, std::string text,
                              job_body body) {
    const lock_guard lock{mutex_};
    if (is_started_) {
        throw std::logic_error("remote::worker \"" + name_ + "\": handle(" + std::string(name) +
                               ") after start()");
    }
    if (!handlers_.try_emplace(std::string(name), handler{signature, std::move(text), std::move(body)})
             .second) {
        throw std::logic_error("remote::worker \"" + name_ + "\": " + std::string(name) +
                               " has a handler already");
    }
}

// How many more jobs the pool can start. Tasks that others give to the pool do not count: set
// `concurrency` for a shared pool.
std::size_t worker_core::room() {
    std::size_t limit = options_.concurrency;
    if (limit == 0) {
        blocking_queue<task>& queue = options_.pool.queue();
        // Only a queue without capacity lets the pool grow past its core size at once.
        const bool hands_off = queue.remaining_capacity() == 0 && queue.size() == 0;
        limit =
            hands_off ? options_.pool.maximum_size() : std::max<std::size_t>(options_.pool.core_size(), 1);
    }
    const lock_guard lock{mutex_};
    const auto busy = static_cast<std::size_t>(
        std::count_if(held_.begin(), held_.end(), [](const auto& e) { return !e.second->has_ended; }));
    return is_closing_ || !refused_until_.expired() || busy >= limit ? 0 : limit - busy;
}

void worker_core::start_job(leased_job job) {
    auto e = std::make_shared<execution>();
    e->job = std::move(job);
    {
        const lock_guard lock{mutex_};
        held_.insert_or_assign(e->job.id, e);
        ++counts_.taken;
    }
    spool::future<void> result;
    try {
        result = options_.pool.submit(job_run{shared_from_this(), e});
    } catch (const rejected_execution& refusal) {
        // The task is destroyed: not_begun() hands the job back.
        complain(refusal.what());
        const lock_guard lock{mutex_};
        refused_until_ = deadline::after(std::chrono::seconds{1});
        return;
    }
    bool stops = false;
    {
        const lock_guard lock{mutex_};
        e->task = result;
        stops = e->stop_requested;
    }
    if (stops) {
        result.cancel();
    }
}

void worker_core::run_job(const std::shared_ptr<execution>& e) {
    {
        const lock_guard lock{mutex_};
        if (e->cause != stop_cause::none) {
            // Fall through to not_begun() without the lock.
        } else {
            e->has_begun = true;
            if (e->job.time_limit > duration{0}) {
                e->time_limit = deadline::after(e->job.time_limit);
                changed_.notify_all();
            }
        }
    }
    if (!e->has_begun) {
        return not_begun(e);
    }
    job_outcome outcome;
    outcome.lease = {e->job.id, e->job.fence};
    execution* const outer = std::exchange(running_here, e.get());
    call_handler(*e, outcome, this_task::stop_token());
    running_here = outer;

    stop_cause cause{};
    {
        const lock_guard lock{mutex_};
        cause = e->cause;
    }
    if (cause == stop_cause::time_limit && outcome.kind != outcome_kind::succeeded) {
        outcome.kind = outcome_kind::error;
        outcome.error_type = timed_out_type;
        outcome.error_text = e->job.function + " exceeded its time limit of " +
                             std::to_string(e->job.time_limit.count() / 1000) + " ms";
    }
    if (outcome.kind == outcome_kind::cancelled && cause != stop_cause::cancelled) {
        outcome.kind = outcome_kind::error;  // a stop that the broker did not ask for
    }
    outcome.retry_in = backoff_of(e->job);
    const bool reports = cause != stop_cause::lost && !e->is_finished_by_user;
    ended(e, reports ? std::optional{std::move(outcome)} : std::nullopt);
}

void worker_core::call_handler(execution& e, job_outcome& outcome, std::stop_token stop) {
    const auto set_error = [&](outcome_kind kind, const std::string& type, std::string_view text) {
        outcome.kind = kind;
        outcome.error_type = cleaned(type);
        outcome.error_text = cleaned(text);
    };
    const auto found = handlers_.find(e.job.function);
    if (found == handlers_.end() || found->second.signature != e.job.signature) {
        const std::string mine = found == handlers_.end()
                                     ? "does not have it"
                                     : "has " + e.job.function + " as " + found->second.text;
        return set_error(
            outcome_kind::refused, "spool::signature_mismatch",
            "worker \"" + name_ + "\" " + mine +
                "; the job was submitted with another signature. Give a changed function a new name");
    }
    try {
        outcome.result = found->second.body(e.job.args, options_.limits, std::move(stop));
        if (outcome.result.size() > options_.limits.size) {
            const std::size_t size = std::exchange(outcome.result, {}).size();
            set_error(outcome_kind::refused, "spool::result_too_large",
                      "the result takes " + std::to_string(size) + " bytes; the limit is " +
                          std::to_string(options_.limits.size));
        }
    } catch (const codec_error& error) {
        set_error(outcome_kind::refused, "spool::codec_error", error.what());
    } catch (const interrupted& error) {
        set_error(outcome_kind::cancelled, "spool::interrupted", error.what());
    } catch (const std::exception& error) {
        set_error(outcome_kind::error, current_type(), error.what());
    } catch (abi::__forced_unwind&) {
        throw;  // the thread is being cancelled
    } catch (...) {
        set_error(outcome_kind::error, current_type(), "an exception that is no std::exception");
    }
}

// Exponential, capped, between a half and the whole: retries of many jobs spread out.
duration worker_core::backoff_of(const leased_job& job) const {
    thread_local std::minstd_rand random{std::random_device{}()};
    const auto cap = std::chrono::duration_cast<duration>(std::chrono::nanoseconds{options_.longest_backoff});
    const double grown =
        static_cast<double>(job.backoff.count()) * static_cast<double>(1ULL << std::min(job.attempt, 40));
    const double whole = std::min(grown, static_cast<double>(cap.count()));
    return duration{static_cast<std::int64_t>(std::uniform_real_distribution{whole / 2, whole}(random))};
}

void worker_core::ended(const std::shared_ptr<execution>& e, std::optional<job_outcome> outcome) {
    {
        const lock_guard lock{mutex_};
        e->has_ended = true;
        if (outcome) {
            outbox_.push_back(*std::move(outcome));
        } else {
            held_.erase(e->job.id);
        }
    }
    interrupt();
}

void worker_core::not_begun(const std::shared_ptr<execution>& e) {
    std::optional<job_outcome> outcome;
    {
        const lock_guard lock{mutex_};
        if (e->cause == stop_cause::cancelled) {
            outcome.emplace();
            outcome->lease = {e->job.id, e->job.fence};
            outcome->kind = outcome_kind::cancelled;
        } else if (e->cause != stop_cause::lost) {
            to_hand_back_.push_back({e->job.id, e->job.fence});
        }
    }
    ended(e, std::move(outcome));
}

void worker_core::stop_execution(const std::shared_ptr<execution>& e, stop_cause cause) {
    spool::future<void> task;
    {
        const lock_guard lock{mutex_};
        if (e->has_ended || (e->cause != stop_cause::none && cause != stop_cause::lost)) {
            return;
        }
        if (cause == stop_cause::closing && e->has_begun) {
            return;  // what has begun may end
        }
        e->cause = cause;
        e->stop_requested = true;
        task = e->task;
    }
    if (task.valid()) {
        task.cancel();  // an unstarted task is destroyed here; a running one sees its stop token
    }
}

}  // namespace detail

namespace this_job {

std::optional<lease> current() noexcept {
    const detail::execution* const e = detail::running_here;
    return e == nullptr ? std::nullopt : std::optional{lease{e->job.id, e->job.fence}};
}

int attempt() noexcept {
    return detail::running_here == nullptr ? 0 : detail::running_here->job.attempt;
}

void mark_finished() noexcept {
    if (detail::running_here != nullptr) {
        detail::running_here->is_finished_by_user = true;
    }
}

}  // namespace this_job
}  // namespace spool::inline v1::remote
