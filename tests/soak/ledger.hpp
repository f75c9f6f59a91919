// ledger: one entry for every task of a round, and what became of it. Each field is counted up where the thing happens; the verdict
// adds up in the end.
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

/// By which call a task came to its pool.
enum class way { execute, try_execute, execute_for, bulk, submit, submit_bulk, once, periodic, child };
[[nodiscard]] const char* to_string(way w) noexcept;

/// The depth of a task that does nothing to any pool.
constexpr int never_acts = 1000;

/// What the one who submitted it was told.
enum class answer {
    none,       ///< taken, or nobody knows yet
    counted,    ///< refused, and the pool has counted it
    uncounted,  ///< refused without being counted: try_execute(), execute_for(), an interrupted wait
    unclear,    ///< a hook threw, or it is one of many of which one was refused
};

struct entry {
    std::size_t number = 0;
    way by = way::execute;
    std::size_t pool = 0;
    int depth = 0;             // tasks that it was submitted in
    bool removable = true;     // by remove()
    std::uint64_t script = 0;  // what it will do
    int priority = 0;
    spool::due_time due = spool::due_time::min();

    std::atomic<int> made{0};  // callables; all of them must go
    std::atomic<int> gone{0};
    std::atomic<int> calls{0};
    std::atomic<int> on_worker{0};          // of these, on a worker of its pool, as its own task there
    std::atomic<int> in_submit{0};          // of these, inside of the call that submitted it
    std::atomic<int> refused_on_worker{0};  // of these, refused on a worker of its pool, which ran it at once
    std::atomic<int> inside{0};             // calls under way
    std::atomic<int> overlapped{0};         // two of them at a time
    std::atomic<int> threw{0};              // calls that ended with an exception of their own
    std::atomic<int> handed_back{0};        // by shutdown_now()
    std::atomic<int> called_back{0};        // and then called by us
    std::atomic<int> removed{0};            // remove() said so
    std::atomic<int> cancelled{0};          // cancel() said so
    std::atomic<int> skipped{0};            // before_execute threw
    std::atomic<int> reported{0};           // came to the `rejected` hook
    std::atomic<int> told{0};               // on_done
    std::atomic<answer> told_submitter{answer::none};
    std::atomic<const void*> submitting{nullptr};  // the thread that is inside of that call
    std::atomic<spool::task_id> id{0};

    // Written once by the submitter, before `published`.
    std::atomic<bool> published{false};
    spool::future<int> result;
    spool::scheduled_future<void> series;
    bool wants_told = false;
    [[nodiscard]] bool has_future() const { return published.load() && (result.valid() || series.valid()); }
};

/// Names this thread.
[[nodiscard]] inline const void* this_thread_mark() noexcept {
    static thread_local char mark = 0;
    return &mark;
}

/// Sits in the callable of a task. Copies are of the test's making and count as callables, too.
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
    /// Null when the round has enough tasks.
    [[nodiscard]] entry* open(way by, std::size_t pool, int depth, std::uint64_t script);
    [[nodiscard]] std::size_t size() const;
    /// Null if there is none.
    [[nodiscard]] entry* at(std::size_t number) const;
    /// By id, in the end: for what hooks have learned.
    void note(std::vector<std::pair<spool::task_id, std::atomic<int> entry::*>>& seen) const;

    static constexpr std::size_t most = 2500;

private:
    mutable std::mutex mutex_;
    std::vector<std::unique_ptr<entry>> entries_;
};

}  // namespace soak
