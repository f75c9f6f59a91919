#include "pool/measure/task_meter.hpp"

#include <algorithm>
#include <new>

#include "pool/pool.hpp"
#include "pool/worker/timed_body.hpp"

namespace spool::inline v1 {
namespace {

// Null if there is no memory: then the sample is lost.
worker_histograms* histograms_of(worker& w) noexcept {
    worker_histograms* own = w.meter.histograms.load(std::memory_order_relaxed);  // relaxed, owner
    if (own == nullptr) {
        own = new (std::nothrow) worker_histograms;
        w.meter.histograms.store(own);
    }
    return own;
}

}  // namespace

auto task_meter::begin(const detail::pool& pool, worker& w, const task& work) noexcept -> run {
    if (!filter_.is_on()) {
        return {};
    }
    if (const auto* timed = work.target<timed_body>()) {
        const clock::time_point now = clock::now();
        return begin_timed(w, work.id(), kind_of(work), now - timed->submitted(), now, timed->period());
    }
    // A task with a due time keeps its id from run to run, so the worker's own count picks.
    if (pool.config.queue_first && !work.empty()) {
        try {
            const due_time due = work.due();
            const std::uint32_t period = filter_.period();
            if (due != due_time::min() && period != 0 &&
                (sample_filter::spread(++w.meter.due_runs) & (period - 1)) == 0) {
                return begin_timed(w, work.id(), kind_of(work), pool.config.now() - due, clock::now(),
                                   period);
            }
        } catch (...) {  // the user's due() or clock threw: then the task is not timed
        }
    }
    return {};
}

// The stamp of a future in a derived pool is its due time, which says nothing about samples.
auto task_meter::begin(const detail::pool& pool, worker& w, future_link body) noexcept -> run {
    const std::uint32_t period = filter_.period();
    const clock::time_point submitted = body.submitted();
    if (period == 0 || pool.config.queue_first || submitted == clock::time_point{}) {
        return {};
    }
    const clock::time_point now = clock::now();
    const char* const named = body.kind();
    const kind_key kind = named != nullptr ? kind_key{named, false} : kind_key{body.body_type().name(), true};
    return begin_timed(w, body.id(), kind, now - submitted, now, period);
}

auto task_meter::begin_timed(worker& w, task_id id, kind_key kind, std::chrono::nanoseconds waited,
                             clock::time_point now, std::uint32_t weight) noexcept -> run {
    if (worker_histograms* const own = histograms_of(w)) {
        own->wait.add(waited, weight);
    }
    // relaxed, statistic: workers() compares the id with that of the running task
    const task_id outer = w.meter.timed.load(std::memory_order_relaxed);
    // relaxed, statistic
    const std::uint32_t outer_kind = w.meter.timed_kind.load(std::memory_order_relaxed);
    // relaxed, statistic
    const std::int64_t outer_since = w.meter.timed_since.load(std::memory_order_relaxed);
    const run r{weight, kinds_.find(kind), now, outer, outer_kind, outer_since};
    const std::int64_t since = now.time_since_epoch().count();
    w.meter.timed_kind.store(r.kind, std::memory_order_relaxed);  // relaxed, statistic
    w.meter.timed_since.store(since, std::memory_order_relaxed);  // relaxed, statistic
    w.meter.timed.store(id, std::memory_order_relaxed);           // relaxed, statistic
    return r;
}

void task_meter::end(const detail::pool& pool, worker& w, const run& r) noexcept {
    if (r.weight == 0) {
        return;
    }
    const clock::time_point now = clock::now();
    if (worker_histograms* const own = histograms_of(w)) {
        own->run.add(now - r.started, r.weight);
    }
    kinds_.add(r.kind, now - r.started, r.weight);
    w.meter.timed_kind.store(r.outer_kind, std::memory_order_relaxed);    // relaxed, statistic
    w.meter.timed_since.store(r.outer_since, std::memory_order_relaxed);  // relaxed, statistic
    w.meter.timed.store(r.outer, std::memory_order_relaxed);              // relaxed, statistic
    const std::uint32_t per_second = per_second_.load();
    const std::uint32_t period = filter_.period();
    if (per_second != 0 && period != 0) {
        const std::uint32_t next = rate_.count(now, period, per_second, pool.control.load().workers);
        if (next != period) {
            filter_.set(next);
        }
    }
}

void task_meter::set(const current_settings& from) noexcept {
    const detail::lock_guard lock{mutex_};
    const measuring how = from.measure();
    per_second_.store(how.per_second());
    filter_.set(how.per_second() != 0 ? 1 : how.period());
}

std::uint64_t task_meter::follow(clock::time_point now, std::uint64_t started, std::size_t workers) noexcept {
    constexpr std::chrono::nanoseconds least = std::chrono::milliseconds{500};
    const std::uint32_t per_second = per_second_.load();
    const detail::lock_guard lock{mutex_};
    most_started_ = started = std::max(started, most_started_);
    const std::chrono::nanoseconds elapsed = now - followed_at_;
    if (followed_at_ != clock::time_point{} && elapsed < least) {
        return started;
    }
    const bool first = followed_at_ == clock::time_point{};
    const std::uint64_t tasks = started - followed_;
    followed_at_ = now;
    followed_ = started;
    if (first || per_second == 0 || filter_.period() == 0) {
        return started;
    }
    const double limit = static_cast<double>(per_second) * static_cast<double>(workers == 0 ? 1 : workers);
    filter_.set(sample_rate::wanted_period(tasks, elapsed, limit));
    return started;
}

std::uint32_t task_meter::period() const noexcept {
    return filter_.period();
}

}  // namespace spool::inline v1
