// What happens when workers wait for each other, so that none of them can make progress.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "spool/base/export.hpp"
#include "spool/base/task.hpp"

namespace spool::inline v1 {

/// A worker of a deadlock.
struct deadlocked_worker {
    std::string pool;
    std::string worker;
    task_id task = 0;       ///< the innermost task that the worker runs
    task_id waits_for = 0;  ///< the task whose future it waits for; 0: something else, see `why`
    /// "for task 17, which is queued in pool "b", all of whose 2 worker(s) wait"
    std::string why{};
};

/// Workers each of which can make progress only after another of them has.
struct deadlock_report {
    std::vector<deadlocked_worker> workers;
    std::string remedy;  ///< what the library does about it; empty: nothing
};

/// The default report: a line for the whole deadlock, and one for each worker.
[[nodiscard]] SPOOL_API std::string to_string(const deadlock_report& report);

/// What happens when workers wait for each other: each without a limit, for work that only these
/// workers could do, in one pool or over several. The library finds such a deadlock within a second
/// and reports it once: as a text on stderr, or to a handler, which runs on one of the waiting
/// threads and under no lock.
///
///     .on_deadlock = spool::deadlock_policy::report()  // the default
///     .on_deadlock = spool::deadlock_policy::report(
///         [](const spool::deadlock_report& r) { log(to_string(r)); })
///     .on_deadlock = spool::deadlock_policy::throw_()
///     .on_deadlock = spool::deadlock_policy::lend()
///
/// throw_: the worker of this pool that has waited for the shortest time gets a `deadlock`
/// exception out of its wait. (Not a worker inside task_group::wait(), which cannot leave its
/// children.)
/// lend: if a worker waits for a task that is queued in this pool, the pool starts a thread beyond
/// the maximum, the lent thread, which runs that task and leaves. If a worker waits for room in
/// this pool's queue, the lent thread runs any queued task. If workers wait for each other's
/// running tasks, a thread would not help, and the deadlock is only reported. A task that is not
/// due is reported at once; its lent thread starts when the task is due by the clock of its pool.
///
/// Over several pools, the library calls the handler of the youngest waiter's pool, and a pool that
/// lends takes precedence over one that throws.
///
/// The library knows of waits for futures (get, wait, invoke_all, invoke_any), task_group::wait(),
/// and waits for room (execute_for, block_policy). A worker in any other wait counts as making
/// progress. So does a pool that could still grow, and a future that no pool has, since any thread
/// could complete it. Then nothing is reported.
class deadlock_policy {
public:
    using handler = std::function<void(const deadlock_report&)>;
    enum class remedy { none, throw_in_youngest, lend_thread };

    deadlock_policy() noexcept = default;
    /// An empty handler means the text on stderr.
    [[nodiscard]] static deadlock_policy report(handler to = nullptr) {
        return deadlock_policy{remedy::none, std::move(to)};
    }
    [[nodiscard]] static deadlock_policy throw_(handler to = nullptr) {
        return deadlock_policy{remedy::throw_in_youngest, std::move(to)};
    }
    [[nodiscard]] static deadlock_policy lend(handler to = nullptr) {
        return deadlock_policy{remedy::lend_thread, std::move(to)};
    }

    [[nodiscard]] remedy what() const noexcept { return remedy_; }
    /// Reports the deadlock, and what a handler throws. Never throws.
    SPOOL_API void operator()(const deadlock_report& report) const noexcept;

private:
    deadlock_policy(remedy what, handler to) : remedy_(what), handler_(std::move(to)) {}

    remedy remedy_ = remedy::none;
    handler handler_;
};

}  // namespace spool::inline v1
