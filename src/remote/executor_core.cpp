#include "executor_core.hpp"

#include <algorithm>

#include "spool/base/error.hpp"
#include "spool/sync/this_task.hpp"

namespace spool::inline v1::remote::detail {
namespace {

constexpr std::size_t batch = 1000;  // jobs per call of the broker
constexpr std::chrono::milliseconds retry_pause{50};

duration rounded(std::chrono::nanoseconds d) {
    return std::chrono::ceil<duration>(std::max(d, std::chrono::nanoseconds{0}));
}

[[noreturn]] void throw_wrong_job(const std::string& what) {
    throw std::invalid_argument("remote::executor: " + what);
}

}  // namespace

executor_core::executor_core(executor_options options) : options_(std::move(options)) {}

new_job executor_core::prepare(const submit_options& how, std::string_view function, std::uint64_t signature,
                               bytes args) const {
    if (args.size() > options_.limits.size) {
        throw codec_error("remote::executor \"" + options_.name + "\": the arguments of " +
                          std::string(function) + " take " + std::to_string(args.size()) +
                          " bytes; the limit is " + std::to_string(options_.limits.size));
    }
    if (how.retries < 0 || how.crash_limit < 1) {
        throw_wrong_job("retries (" + std::to_string(how.retries) + ") must not be negative, crash_limit (" +
                        std::to_string(how.crash_limit) + ") must be positive");
    }
    new_job job;
    job.id = how.id.is_nil() ? job_id::random() : how.id;
    job.queue = how.queue.empty() ? options_.queue : how.queue;
    job.function = function;
    job.signature = signature;
    job.args = std::move(args);
    job.key = how.key;
    job.priority = how.priority;
    job.delay = rounded(how.delay);
    job.retries = how.retries;
    job.crash_limit = how.crash_limit;
    job.backoff = rounded(how.backoff);
    job.time_limit = rounded(how.time_limit);
    job.keep = rounded(how.keep);
    job.submitter = submitter_;
    return job;
}

void executor_core::refuse_if_shut_down() {
    const lock_guard lock{mutex_};
    if (is_shut_down_) {
        throw rejected_execution(rejection_reason::shut_down, "remote::executor \"" + options_.name + "\"");
    }
}

void executor_core::insert(std::uint64_t number, waiting entry) {
    const lock_guard lock{mutex_};
    by_id_.emplace(entry.id, number);
    entries_.emplace(number, std::move(entry));
}

executor_core::waiting executor_core::extract_number(std::uint64_t number) {
    const lock_guard lock{mutex_};
    const auto found = entries_.find(number);
    if (found == entries_.end()) {
        return {};
    }
    waiting entry = std::move(found->second);
    entries_.erase(found);
    const auto [first, last] = by_id_.equal_range(entry.id);
    by_id_.erase(std::find_if(first, last, [&](const auto& e) { return e.second == number; }));
    changed_.notify_all();
    return entry;
}

std::vector<executor_core::waiting> executor_core::extract(const job_record& job, which_entries which) {
    std::vector<waiting> all;
    const lock_guard lock{mutex_};
    const auto range = by_id_.equal_range(job.id);
    for (auto at = range.first; at != range.second;) {
        const auto found = entries_.find(at->second);
        if (which == which_entries::mismatched && !found->second.is_mismatch(job)) {
            ++at;
            continue;
        }
        all.push_back(std::move(found->second));
        entries_.erase(found);
        at = by_id_.erase(at);
    }
    changed_.notify_all();
    return all;
}

// The user cancelled the future, or this is the echo of a completion: then the entry is gone.
void executor_core::done(std::uint64_t number) {
    const waiting entry = extract_number(number);
    if (entry.pending == nullptr) {
        return;
    }
    {
        const lock_guard lock{mutex_};
        to_cancel_.push_back(entry.id);
    }
    interrupt();
}

std::vector<put_result> executor_core::put_patiently(std::span<const new_job> jobs) {
    const bool evicts = options_.when_full == full_policy::discard_oldest;
    const put_limits limits{options_.bound, evicts ? full_queue::evict_oldest : full_queue::refuse};
    const deadline until = deadline::after(std::chrono::nanoseconds{options_.submit_timeout});
    const std::string label = "remote::executor \"" + options_.name + "\"";
    std::vector<put_result> done;
    while (true) {
        std::string reason;
        try {
            const std::span<const new_job> rest = jobs.subspan(done.size());
            // Repeating a put is safe: the ids are ours, so what was added before is `known`.
            for (const put_result& result : options_.broker->put(rest, limits)) {
                if (result.status == put_status::full && options_.when_full == full_policy::block) {
                    break;  // this job and those behind it wait for room
                }
                done.push_back(result);
            }
            if (done.size() == jobs.size()) {
                return done;
            }
        } catch (const broker_error& e) {
            if (!e.is_transient()) {
                throw;
            }
            reason = e.what();
        }
        if (until.expired()) {
            if (reason.empty()) {
                return done;  // still full: submit() refuses the rest
            }
            throw rejected_execution(rejection_reason::broker_unavailable, label, reason);
        }
        this_task::sleep_for(retry_pause);
    }
}

void executor_core::settle_put(const new_job& job, std::uint64_t number, const put_result& result) {
    if (result.status == put_status::full) {
        const waiting entry = extract_number(number);
        if (entry.pending != nullptr) {
            entry.pending->cancel();
        }
        return;
    }
    const lock_guard lock{mutex_};
    const auto found = entries_.find(number);
    if (found == entries_.end()) {
        return;
    }
    found->second.is_put = true;
    if (result.id != job.id) {
        const auto [first, last] = by_id_.equal_range(job.id);
        by_id_.erase(std::find_if(first, last, [&](const auto& e) { return e.second == number; }));
        by_id_.emplace(result.id, number);
        found->second.id = result.id;
    }
    if (result.status == put_status::known) {
        to_check_.push_back(result.id);  // it may have finished before the entry was there
        if (news_ != nullptr) {
            news_->interrupt();
        }
    }
}

std::vector<job_id> executor_core::submit(std::vector<new_job> jobs,
                                          std::vector<executor_link::entry> entries) {
    refuse_if_shut_down();
    std::vector<std::uint64_t> numbers;
    // The entries come first: an outcome may arrive before put() returns.
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        numbers.push_back(entries[i].number);
        insert(entries[i].number, {jobs[i].id, std::move(entries[i].pending), {}, 0, false});
    }
    std::vector<job_id> ids;
    ids.reserve(jobs.size());
    try {
        for (std::size_t from = 0; from < jobs.size(); from += batch) {
            const auto part =
                std::span<const new_job>{jobs}.subspan(from, std::min(batch, jobs.size() - from));
            const std::vector<put_result> results = put_patiently(part);
            std::size_t refused = part.size() - results.size();
            for (std::size_t i = 0; i < results.size(); ++i) {
                settle_put(part[i], numbers[from + i], results[i]);
                ids.push_back(results[i].id);
                refused += results[i].status == put_status::full;
            }
            if (refused != 0 && options_.when_full != full_policy::discard) {
                throw rejected_execution(rejection_reason::full, "remote::executor \"" + options_.name + "\"",
                                         "queue \"" + part.front().queue + "\", bound " +
                                             std::to_string(options_.bound) + ", refused " +
                                             std::to_string(refused) + " of " + std::to_string(part.size()));
            }
        }
    } catch (...) {
        for (const std::uint64_t number : numbers) {
            const waiting entry = extract_number(number);  // its end cancels the future
        }
        throw;
    }
    return ids;
}

void executor_core::find(const job_id& id, std::string_view function, std::uint64_t signature,
                         executor_link::entry entry) {
    insert(entry.number, {id, std::move(entry.pending), std::string(function), signature, true});
    {
        const lock_guard lock{mutex_};
        to_check_.push_back(id);
    }
    interrupt();
}

bool executor_core::cancel(const job_id& id) {
    const deadline until = deadline::after(std::chrono::nanoseconds{options_.submit_timeout});
    while (true) {
        try {
            const cancel_status status = options_.broker->cancel(id);
            return status == cancel_status::cancelled || status == cancel_status::stop_requested;
        } catch (const broker_error& e) {
            if (!e.is_transient()) {
                throw;
            }
            if (until.expired()) {
                return false;
            }
        }
        this_task::sleep_for(retry_pause);
    }
}

void executor_core::shutdown() {
    const lock_guard lock{mutex_};
    is_shut_down_ = true;
    periodics_.clear();
}

bool executor_core::await_all_until(deadline until) {
    const lock_guard lock{mutex_};
    while (!entries_.empty()) {
        if (until.expired()) {
            return false;
        }
        if (until.is_never()) {
            changed_.wait(mutex_);
        } else {
            changed_.wait_until(mutex_, until.when());
        }
    }
    return true;
}

std::size_t executor_core::pending_count() {
    const lock_guard lock{mutex_};
    return entries_.size();
}

void executor_core::add_periodic(std::chrono::nanoseconds every, const std::string& key, new_job job) {
    const std::int64_t step = rounded(every).count();
    if (step < 1000 || key.empty() || job.keep.count() < step) {
        throw_wrong_job("submit_every needs a key, an interval of at least 1 ms, and keep >= the interval");
    }
    refuse_if_shut_down();
    job.submitter.clear();  // nobody waits for the outcome
    {
        const lock_guard lock{mutex_};
        periodics_.push_back(std::make_shared<periodic>(periodic{step, key, std::move(job)}));
    }
    interrupt();
}

}  // namespace spool::inline v1::remote::detail
