// deadlock_finder: finds which waits are stuck, and describes them. Used under the lock of the
// list; calls no user code.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "pool/deadlock/deadlock_watch.hpp"

namespace spool::inline v1 {

/// One deadlock, and what must be done about it after the lock is released.
struct deadlock_finding {
    std::size_t number = 0;  // the number that its waits are marked with
    deadlock_report report{};
    std::shared_ptr<watched_pool> teller{};  // the pool whose policy gets the report
    std::shared_ptr<watched_pool> lender{};  // the pool that lends a thread; may be null
    task_id wanted = 0;                      // the task for the lent thread; 0: any task
    // Of that task:
    future_link::readiness ready = future_link::readiness::due;
    bool is_new = true;  // false: all of its waits were reported before
};

class deadlock_finder {
public:
    explicit deadlock_finder(blocked_wait* first);
    /// Returns the deadlocks whose waits are not marked as reported, and marks the waits. A
    /// deadlock that list::forget() has unmarked is found again.
    [[nodiscard]] std::vector<deadlock_finding> find(std::size_t& last_number);

private:
    using indices = std::vector<std::size_t>;
    using place = future_link::place;

    void strike_out();
    [[nodiscard]] bool is_stuck(std::size_t i) const;
    [[nodiscard]] bool is_stuck(const place& at) const;
    [[nodiscard]] bool is_stuck(const void* pool) const;
    void add_causes(std::size_t i, std::vector<bool>& seen, indices& out) const;
    [[nodiscard]] indices closure(std::size_t i) const;
    [[nodiscard]] indices innermost(indices of) const;
    [[nodiscard]] bool is_still_so(const indices& cycle) const;
    [[nodiscard]] deadlock_finding report_on(const indices& cycle, std::size_t number);
    [[nodiscard]] deadlocked_worker describe(std::size_t i) const;
    [[nodiscard]] std::string describe(task_id future, const place& at) const;
    bool lend(std::size_t i, deadlock_finding& found) const;

    std::vector<blocked_wait*> waits_;
    // Where their futures are, looked up once: a future may be cancelled at any time, and a report
    // must be consistent.
    std::vector<std::vector<place>> places_;
    std::vector<bool> stuck_;
    std::unordered_map<const task_scope*, std::size_t> runs_;  // the scopes of the waiting threads
    struct pool_waits {
        watched_pool* pool = nullptr;
        indices of_workers{};
    };
    std::unordered_map<const void*, pool_waits> pools_;  // by id: those with a worker in the list
};

}  // namespace spool::inline v1
