// deadlock_watch::finder: which waits are stuck, and what is to be said of them. Used under the lock of the list; calls no user code.
#pragma once

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

#include "pool/deadlock_watch.hpp"
#include "pool/self_service.hpp"

namespace spool::inline v1 {

/// One deadlock, and what is to be done about it when the lock is gone.
struct thread_pool_executor::core::deadlock_watch::finding {
    std::size_t number = 0;  // what its waits are marked with
    deadlock_report report{};
    std::shared_ptr<core> teller{};                              // whose policy is told
    std::shared_ptr<core> lender{};                              // may be null
    task_id wanted = 0;                                          // for the extra thread; 0: any task
    future_link::readiness ready = future_link::readiness::due;  // of that task
    bool is_new = true;  // false: all of its waits were reported before
};

class thread_pool_executor::core::deadlock_watch::finder {
public:
    explicit finder(blocked_wait* first);
    /// Those that are not marked as reported, and marks them. With those that wait for an extra thread once more.
    [[nodiscard]] std::vector<finding> find(std::size_t& last_number);

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
    [[nodiscard]] finding report_on(const indices& cycle, std::size_t number);
    [[nodiscard]] deadlocked_worker describe(std::size_t i) const;
    [[nodiscard]] std::string describe(task_id future, const place& at) const;
    bool lend(std::size_t i, finding& found) const;

    std::vector<blocked_wait*> waits_;
    // Where their futures are, looked up once: a future may be cancelled at any time, and what is said must fit together.
    std::vector<std::vector<place>> places_;
    std::vector<bool> stuck_;
    std::unordered_map<const task_scope*, std::size_t> runs_;  // the scopes of their threads
    std::unordered_map<const void*, indices> of_pool_;         // the waits of a pool's workers
};

}  // namespace spool::inline v1
