// What becomes of workers that wait for each other, so that none of them can go on.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "spool/base/export.hpp"
#include "spool/base/task.hpp"

namespace spool::inline v1 {

/// One of those who wait.
struct deadlocked_worker {
    std::string pool;
    std::string worker;
    task_id task = 0;       ///< what it runs, the innermost
    task_id waits_for = 0;  ///< the task whose future it waits for; 0: something else, see `why`
    std::string why{};      ///< "for task 17, which is queued in pool "b" with all its workers here"
};

/// Workers none of whom can go on before another of them has.
struct deadlock_report {
    std::vector<deadlocked_worker> workers;
    std::string remedy;  ///< what is done about it; empty: nothing
};

/// The text that is written by default: a line for the whole, and one for each worker.
[[nodiscard]] SPOOL_API std::string to_string(const deadlock_report& report);

/// Says what happens when workers wait for each other: each without a limit, for work that only they could do, in one pool or over several.
/// It is found within a second, and reported once: by a text on stderr, or to a handler, on one of the threads that wait and under no lock.
///
///     .on_deadlock = spool::deadlock_policy::report()                                    // the default
///     .on_deadlock = spool::deadlock_policy::report([](const spool::deadlock_report& r) { log(to_string(r)); })
///     .on_deadlock = spool::deadlock_policy::throw_()
///     .on_deadlock = spool::deadlock_policy::lend()
///
/// throw_: the one of this pool that waits for the shortest time gets a `deadlock` exception out of its wait. (Not one inside of
/// task_group::wait(), which cannot leave its children.)
/// lend: where one of them waits for a task that is queued in this pool, or for room in its queue, an extra thread beyond the maximum runs that
/// task, and leaves. Where they wait for each other's running tasks a thread would not help, and they are only reported.
/// A task that is not due is reported at once; its extra thread comes when the task is due by the clock of its pool.
///
/// Over several pools the handler is that of the youngest waiter's pool; a pool that lends comes before one that throws.
///
/// Known are waits for futures (get, wait, invoke_all, invoke_any), task_group::wait(), and for room (execute_for, block_policy). A worker in any
/// other wait counts as one that goes on, and so does a future that no pool has, which anybody could complete: then nothing is
/// reported. A pool that could still grow counts so too.
class deadlock_policy {
public:
    using handler = std::function<void(const deadlock_report&)>;
    enum class remedy { none, throw_in_youngest, lend_thread };

    deadlock_policy() noexcept = default;
    /// An empty handler is the text on stderr.
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
    /// Reports; what a handler throws is reported in its turn. Never throws.
    SPOOL_API void operator()(const deadlock_report& report) const noexcept;

private:
    deadlock_policy(remedy what, handler to) : remedy_(what), handler_(std::move(to)) {}

    remedy remedy_ = remedy::none;
    handler handler_;
};

namespace detail {

/// Looks for deadlocks here and now, and says how many were found that had not been reported.
SPOOL_API std::size_t look_for_deadlocks();
/// How many waits of workers are watched: those that have lasted for 100 ms.
[[nodiscard]] SPOOL_API std::size_t watched_waits();

}  // namespace detail
}  // namespace spool::inline v1
