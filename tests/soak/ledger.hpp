// ledger: one entry for every task of a round, with its outcome. Each event counts up its field
// when it happens; the verdict adds up the fields at the end.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include <spool/spool.hpp>

namespace soak {

/// The call that submitted a task.
enum class way { execute, try_execute, execute_for, bulk, submit, submit_bulk, once, periodic, child };
[[nodiscard]] const char* to_string(way w) noexcept;

/// The depth of a task that uses no pool.
constexpr int never_acts = 1000;

/// What the submitter was told about a task.
enum class answer {
    none,       ///< accepted, or not known yet
    counted,    ///< refused, and the pool has counted the refusal
    uncounted,  ///< refused, not counted: try_execute(), execute_for(), an interrupted wait
    unclear,    ///< a hook threw, or some task of the same bulk call was refused
};

struct entry {
    std::size_t number = 0;
    way by = way::execute;
    std::size_t pool = 0;
    int depth = 0;             // how many tasks enclose its submission
    bool removable = true;     // remove() may take it out
    std::uint64_t script = 0;  // determines what the task does
    int priority = 0;
    spool::due_time due = spool::due_time::min();

    std::atomic<int> made{0};  // callables; all must be destroyed
    std::atomic<int> gone{0};
    std::atomic<int> calls{0};
    std::atomic<int> on_worker{0};          // calls on a worker of its pool, as the worker's task
    std::atomic<int> in_submit{0};          // calls inside the call that submitted the task
    std::atomic<int> refused_on_worker{0};  // calls by a worker of its pool that was refused
    std::atomic<int> inside{0};             // calls in progress
    std::atomic<int> overlapped{0};         // calls that began during another call
    std::atomic<int> threw{0};              // calls that ended with an exception
    std::atomic<int> handed_back{0};        // by shutdown_now()
    std::atomic<int> called_back{0};        // handed back, then called by the test
    std::atomic<int> removed{0};            // remove() returned true
    std::atomic<int> cancelled{0};          // cancel() returned true
    std::atomic<int> skipped{0};            // before_execute threw
    std::atomic<int> reported{0};           // calls of the `rejected` hook
    std::atomic<int> told{0};               // calls of on_done
    std::atomic<answer> told_submitter{answer::none};
    std::atomic<const void*> submitting{nullptr};  // the thread inside the submitting call
    std::atomic<spool::task_id> id{0};

    // The submitter writes the members below once, before it sets `published`.
    std::atomic<bool> published{false};
    spool::future<int> result;
    spool::scheduled_future<void> series;
    bool wants_told = false;
    [[nodiscard]] bool has_future() const { return published.load() && (result.valid() || series.valid()); }
};

/// Identifies this thread.
[[nodiscard]] inline const void* this_thread_mark() noexcept {
    static thread_local char mark = 0;
    return &mark;
}

/// A member of a task's callable: counts callables. A copy, which only the test makes, counts too.
class witness {
public:
    explicit witness(entry& e) noexcept : entry_(&e) { ++e.made; }
    witness(witness&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}
    witness& operator=(witness&&) = delete;
    ~witness() {
        if (entry_ != nullptr) {
            ++entry_->gone;
        }
    }
    [[nodiscard]] entry& mine() const { return *entry_; }

private:
    entry* entry_;
};

class ledger {
public:
    /// Adds an entry. Null: the round has enough tasks (but never for depth never_acts).
    [[nodiscard]] entry* open(way by, std::size_t pool, int depth, std::uint64_t script);
    [[nodiscard]] std::size_t size() const;
    /// Null: there is no entry with that number.
    [[nodiscard]] entry* at(std::size_t number) const;
    /// Counts up the field of each id in `seen`, and clears `seen`. Called at the end, when all ids
    /// are known.
    void note(std::vector<std::pair<spool::task_id, std::atomic<int> entry::*>>& seen) const;

    static constexpr std::size_t most = 2500;

private:
    mutable std::mutex mutex_;
    std::vector<std::unique_ptr<entry>> entries_;
};

}  // namespace soak
