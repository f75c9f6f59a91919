// What the rounds record about one task, and the verdict at the end.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <spool/spool.hpp>

namespace test {

enum class kind { once, wall, executed, rate, delay, chain };
constexpr std::size_t kinds = 6;

/// The record of one task.
struct job {
    kind what = kind::once;
    std::atomic<int> ran{0};     // runs; for a chain, links that ran
    std::atomic<int> inside{0};  // runs that are in progress
    std::atomic<int> overlaps{0};
    std::atomic<int> made{0};  // callables that were made; all must be destroyed
    std::atomic<int> gone{0};
    std::atomic<int> links{0};  // links of a chain that the pool accepted
    std::atomic<int> told{0};   // calls of on_done
    bool refused = false;
    spool::scheduled_future<void> future;
    [[nodiscard]] bool is_series() const { return what == kind::rate || what == kind::delay; }
};

/// A member of the task's callable: counts callables that are made and destroyed.
class witness {
public:
    explicit witness(job& j) : job_(&j) { ++j.made; }
    witness(witness&& other) noexcept : job_(std::exchange(other.job_, nullptr)) {}
    witness(const witness&) = delete;
    witness& operator=(witness&&) = delete;
    ~witness() {
        if (job_ != nullptr) {
            ++job_->gone;
        }
    }
    [[nodiscard]] job& mine() const { return *job_; }

private:
    job* job_;
};

/// Returns an empty string if the task is accounted for exactly once, else the problem.
inline std::string verdict(const job& j) {
    const std::string name = "a task of kind " + std::to_string(static_cast<int>(j.what)) + " ";
    if (j.made != j.gone) {
        return name + "made " + std::to_string(j.made) + " callables and lost " + std::to_string(j.gone);
    }
    if (j.overlaps != 0 && j.what != kind::chain) {
        return name + "overlapped itself";
    }
    if (j.refused) {
        return j.ran != 0 ? name + "was refused and ran all the same" : "";
    }
    if (j.what == kind::executed) {
        return j.ran > 1 ? name + "ran " + std::to_string(j.ran) + " times" : "";
    }
    if (!j.future.is_done() || j.told != 1) {
        return name + "is done: " + std::to_string(j.future.is_done()) + ", told " + std::to_string(j.told) +
               " times";
    }
    if (j.is_series()) {
        const bool ended = j.future.is_cancelled() || j.future.state() == spool::future_state::failed;
        const bool counted = j.future.run_count() == static_cast<std::uint64_t>(j.ran.load());
        return ended && counted
                   ? ""
                   : name + "ended as " + j.future.describe() + " after " + std::to_string(j.ran);
    }
    const bool finished = !j.future.is_cancelled();
    if (j.what == kind::chain) {
        return j.ran > j.links || (finished && j.ran == 0) ? name + "ran " + std::to_string(j.ran) : "";
    }
    // A cancelled task may have started before the cancel.
    return j.ran > 1 || (finished && j.ran != 1)
               ? name + "ran " + std::to_string(j.ran) + " times, " + j.future.describe()
               : "";
}

}  // namespace test
