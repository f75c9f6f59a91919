// What the roster tells about its workers: for people, and as readings.
#include <algorithm>

#include "pool/measure/thread_clock.hpp"
#include "pool/worker/worker_roster.hpp"

namespace spool::inline v1 {
namespace {

std::string seconds(std::chrono::nanoseconds d) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
    std::string fraction = std::to_string(ms % 1000);
    fraction.insert(0, 3 - fraction.size(), '0');
    return std::to_string(ms / 1000) + "." + fraction + " s";
}

}  // namespace

// How long the worker has been running its innermost task. Without a stamp: since a reader first
// saw the task.
auto worker_roster::age_of_task(worker& w, std::chrono::steady_clock::time_point now, bool with_times) const
    -> seen_task {
    const std::uint64_t number = w.started.load();
    if (w.seen_number != number) {
        w.seen_number = number;
        w.seen_at = now;
    }
    // Zero: the body has not begun, or has ended.
    const std::chrono::nanoseconds began{w.started_at.load()};
    if (with_times && began.count() != 0) {
        return {now.time_since_epoch() - began, true, false};
    }
    if (const std::chrono::nanoseconds timed{w.meter.timed_since.load()};
        timed.count() != 0 && w.meter.timed.load() == w.current.load()) {
        return {now.time_since_epoch() - timed, true, false};
    }
    return {now - w.seen_at, false, w.seen_at == now};
}

void worker_roster::describe(std::string& text, bool with_times) const {
    const auto now = std::chrono::steady_clock::now();
    const detail::lock_guard lock{mutex_};
    for (const std::shared_ptr<worker>& w : workers_) {
        text += "\n  " + w->info.name + ": ";
        if (w->stage == worker_stage::starting || w->depth.load() == 0) {
            text += w->stage == worker_stage::starting ? "starting" : "idle";
            continue;
        }
        const seen_task seen = age_of_task(*w, now, with_times);
        text += "runs task " + std::to_string(w->current.load());
        text += seen.first_time ? ", seen for the first time"
                                : (seen.exact ? " for " : " for at least ") + seconds(seen.age);
        if (w->asked_to_stop) {
            text += ", asked to stop";
        }
    }
}

// ---- Measurements

void worker_roster::take_over(worker& w) noexcept {
    left_.take(w.meter, std::chrono::steady_clock::now(), cpu_time_of(w.meter.cpu_clock));
}

void worker_roster::read(pool_reading& r) const {
    const detail::lock_guard lock{mutex_};
    const auto now = std::chrono::steady_clock::now();
    const auto add = [&r](const worker_histograms* own) {
        if (own != nullptr) {
            own->wait.add_to(r.wait);
            own->run.add_to(r.run);
        }
    };
    r.started = completed_by_ended_;
    r.busy = left_.busy;
    r.idle = left_.idle;
    r.cpu = left_.cpu;
    add(left_.histograms.get());
    for (const std::shared_ptr<worker>& w : workers_) {
        r.started += w->started.load();
        if (w->stage == worker_stage::working) {
            w->meter.read_times(now);
            r.idle += w->meter.told_idle;
            r.busy += w->meter.told_busy;
            r.cpu += cpu_time_of(w->meter.cpu_clock);
            add(w->meter.histograms.load());
        }
    }
}

std::vector<worker_reading> worker_roster::read_workers(bool with_times, const kind_table& kinds) const {
    const auto now = std::chrono::steady_clock::now();
    const detail::lock_guard lock{mutex_};
    std::vector<worker_reading> all;
    all.reserve(workers_.size());
    for (const std::shared_ptr<worker>& w : workers_) {
        worker_reading& one = all.emplace_back();
        one.info = w->info;
        one.completed = w->completed.load();
        one.asked_to_stop = w->asked_to_stop;
        one.starting = w->stage == worker_stage::starting;
        if (w->stage == worker_stage::working) {
            one.thread = w->meter.thread;
            w->meter.read_times(now);
            one.idle_time = w->meter.told_idle;
            one.busy_time = w->meter.told_busy;
            one.cpu = cpu_time_of(w->meter.cpu_clock);
        }
        one.busy = !one.starting && w->depth.load() != 0;
        if (one.busy) {
            const seen_task seen = age_of_task(*w, now, with_times);
            one.task = w->current.load();
            one.for_at_least = seen.age;
            one.exact_age = seen.exact;
            if (w->meter.timed.load() == one.task) {
                one.kind = kinds.name(w->meter.timed_kind.load());
            }
        }
    }
    return all;
}

}  // namespace spool::inline v1
