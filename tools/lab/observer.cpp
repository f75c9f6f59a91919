#include "observer.hpp"

#include <algorithm>
#include <utility>

namespace spool::lab {
namespace {

using namespace std::chrono_literals;

constexpr nanoseconds frame_period = 100ms;

}  // namespace

observer::observer(thread_pool_executor& pool, recorder& of, const load_generator& load, view& audience,
                   std::string title)
    : pool_(pool), of_(of), load_(load), audience_(audience) {
    const scenario& what = of_.record().what;
    frame_.title = std::move(title);
    frame_.pool = what.pool;
    frame_.duration = what.duration;
    next_frame_ = frame_period;
}

void observer::look() {
    const nanoseconds now = of_.now();
    frame_.workers = static_cast<std::uint32_t>(pool_.pool_size());
    frame_.active = static_cast<std::uint32_t>(pool_.active_count());
    frame_.queued = static_cast<std::uint32_t>(pool_.queue().size());
    if (now <= sampled_until(of_.record().what)) {
        of_.record().samples.push_back({now, frame_.workers, frame_.active, frame_.queued});
    }
    of_.visit_done([this](const planned_task& task, const outcome& o) {
        if (o.how == fate::completed) {
            tenth& t = last_second_[current_];
            t.waits.add(o.start - task.arrival);
            t.runs.add(o.end - o.start);
            ++t.completed;
            ++frame_.completed;
        }
    });
    if (now >= next_frame_) {
        end_tenth(now);
    }
}

void observer::end_tenth(nanoseconds now) {
    tenth& t = last_second_[current_];
    const std::uint64_t arrived = load_.arrived();
    const std::uint64_t rejected = pool_.rejected_count();
    t.arrived = arrived - std::exchange(arrived_, arrived);
    t.rejected = rejected - std::exchange(rejected_, rejected);
    filled_ = std::min(filled_ + 1, tenths);
    tenth sum;
    for (const tenth& one : last_second_) {
        sum.waits.add(one.waits);
        sum.runs.add(one.runs);
        sum.arrived += one.arrived;
        sum.completed += one.completed;
        sum.rejected += one.rejected;
    }
    const double per_second = 10.0 / static_cast<double>(filled_);
    frame_.elapsed = now;
    frame_.arrivals = static_cast<double>(sum.arrived) * per_second;
    frame_.throughput = static_cast<double>(sum.completed) * per_second;
    frame_.rejections = static_cast<double>(sum.rejected) * per_second;
    frame_.rejected = rejected;
    frame_.wait_p50 = sum.waits.quantile(0.5);
    frame_.wait_p99 = sum.waits.quantile(0.99);
    frame_.run_p50 = sum.runs.quantile(0.5);
    frame_.run_p99 = sum.runs.quantile(0.99);
    frame_.draining = load_.finished();
    audience_.show(frame_);
    current_ = (current_ + 1) % tenths;
    last_second_[current_] = tenth{};
    next_frame_ = std::max(next_frame_ + frame_period, now);
}

}  // namespace spool::lab
