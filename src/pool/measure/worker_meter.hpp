// worker_meter: what a worker measures about itself. Only the worker writes; any thread reads.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include "spool/base/task_id.hpp"
#include "spool/pool/duration_histogram.hpp"

namespace spool::inline v1 {

/// A histogram with one writer and any number of readers.
class shared_histogram {
public:
    void add(std::chrono::nanoseconds d, std::uint64_t weight) noexcept {
        raise(counts_[duration_histogram::bucket_of(d)], weight);
        raise(sum_, static_cast<std::uint64_t>(std::max<std::int64_t>(d.count(), 0)) * weight);
    }
    void add_to(duration_histogram& total) const noexcept {
        for (std::size_t i = 0; i < duration_histogram::buckets; ++i) {
            // relaxed, statistic
            if (const std::uint64_t n = counts_[i].load(std::memory_order_relaxed); n != 0) {
                total.add_to_bucket(i, n);
            }
        }
        total.add_to_sum(sum_.load(std::memory_order_relaxed));  // relaxed, statistic
    }
    /// For the one writer of both.
    void add(const shared_histogram& other) noexcept {
        for (std::size_t i = 0; i < duration_histogram::buckets; ++i) {
            // relaxed, statistic
            raise(counts_[i], other.counts_[i].load(std::memory_order_relaxed));
        }
        raise(sum_, other.sum_.load(std::memory_order_relaxed));  // relaxed, statistic
    }

private:
    static void raise(std::atomic<std::uint64_t>& counter, std::uint64_t by) noexcept {
        // relaxed, owner
        counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
    }

    std::array<std::atomic<std::uint64_t>, duration_histogram::buckets> counts_{};
    std::atomic<std::uint64_t> sum_{0};  // ns
};

struct worker_histograms {
    shared_histogram wait;
    shared_histogram run;
};

/// Sums up idle time in one word, so that a reader sees no half of a change: the sum while busy,
/// the sum minus the begin of the spell while idle.
class idle_clock {
public:
    using time_point = std::chrono::steady_clock::time_point;

    /// Worker's own thread only; in turns.
    void begin(time_point now) noexcept { set(sum_ - now.time_since_epoch().count(), true); }
    void end(time_point now) noexcept {
        // relaxed, owner
        sum_ = std::max(sum_, (word_.load(std::memory_order_relaxed) >> 1) + now.time_since_epoch().count());
        set(sum_, false);
    }
    [[nodiscard]] std::chrono::nanoseconds read(time_point now) const noexcept {
        const std::int64_t word = word_.load(std::memory_order_relaxed);  // relaxed, statistic
        const std::int64_t since = (word & 1) != 0 ? now.time_since_epoch().count() : 0;
        return std::chrono::nanoseconds{(word >> 1) + since};
    }

private:
    void set(std::int64_t value, bool idle) noexcept {
        word_.store(value * 2 + (idle ? 1 : 0), std::memory_order_relaxed);  // relaxed, statistic
    }

    std::int64_t sum_ = 0;  // ns; only the worker uses it
    std::atomic<std::int64_t> word_{0};
};

struct worker_meter {
    using clock = std::chrono::steady_clock;

    idle_clock idle;
    // Made by the worker with its first sample; freed with the worker. Null: none.
    std::atomic<worker_histograms*> histograms{nullptr};
    // Guarded by the lock of the roster, set when the body begins:
    clock::time_point begun{};
    int cpu_clock = 0;
    long thread = 0;
    // The innermost timed task that runs: its id, its kind (see kind_table) and when it began.
    std::atomic<task_id> timed{0};
    std::atomic<std::uint32_t> timed_kind{0};
    std::atomic<std::int64_t> timed_since{0};  // ns
    std::uint64_t due_runs = 0;                // runs of tasks with a due time; only the worker

    // What readers were told at most. A worker publishes a change of its state a moment after the
    // time that it names, so without this a reader could see a sum go down.
    std::chrono::nanoseconds told_busy{0}, told_idle{0};

    /// Precondition: the caller holds the lock of the roster, and the body has begun.
    void read_times(clock::time_point now) noexcept {
        const std::chrono::nanoseconds idle_time = idle.read(now);
        told_idle = std::max(told_idle, idle_time);
        told_busy = std::max<std::chrono::nanoseconds>(told_busy, now - begun - idle_time);
    }

    worker_meter() = default;
    worker_meter(const worker_meter&) = delete;
    worker_meter& operator=(const worker_meter&) = delete;
    ~worker_meter() { delete histograms.load(); }
};

/// What the workers that have left measured.
struct left_workers {
    std::chrono::nanoseconds busy{0}, idle{0}, cpu{0};
    std::unique_ptr<worker_histograms> histograms;

    /// Takes over what the worker measured. Allocates nothing.
    void take(worker_meter& w, worker_meter::clock::time_point now,
              std::chrono::nanoseconds cpu_time) noexcept {
        w.read_times(now);
        idle += w.told_idle;
        busy += w.told_busy;
        cpu += cpu_time;
        worker_histograms* const own = w.histograms.load();
        if (own == nullptr) {
            return;
        }
        if (histograms == nullptr) {
            histograms.reset(own);
            w.histograms.store(nullptr);
        } else {
            histograms->wait.add(own->wait);
            histograms->run.add(own->run);
        }
    }
};

}  // namespace spool::inline v1
