// serial_executor: one task after the other, on the threads of another executor.
#pragma once

#include <memory>

#include "spool/base/export.hpp"
#include "spool/executor/executor.hpp"

namespace spool::inline v1 {

/// Runs its tasks one at a time, in submission order, on another executor. It replaces a lock, and
/// no thread ever blocks on it. What one task did is visible to the next.
///
///     spool::serial_executor account{pool};        // many of these may share one pool
///     account.execute([&] { balance += 10; });     // no mutex needed round `balance`
///     account.execute([&] { balance -= 3; });
///
/// It asks the target for a thread when its first task comes, and gives the thread back after 32
/// tasks. It then queues for its next turn behind the tasks that the target has queued already. If
/// the target refuses that (because it was shut down, or is full), the remaining tasks run where
/// they are. A task that throws does not hold up the next: the exception goes to the target, as if
/// the target had run the task.
///
/// A task is accepted when execute() returns, and then it runs. execute() asks the target, unless
/// the serial_executor already has a thread, or a place in the target's queue. So execute() waits,
/// or throws, as the target's own execute() does then. A refusal concerns that one task: the
/// target's exception comes out of that one call.
///
/// There is one exception: the target may destroy, without running it, what it has accepted (a
/// dropped list from shutdown_now(), or discard_oldest_policy). Then the tasks that wait here are
/// destroyed: their futures are cancelled, and the number of other tasks is reported on stderr.
///
/// Thread safety: any thread may call execute(), also a task of this executor. The serial_executor
/// may be destroyed while tasks wait: they still run. The target must live until they have run, and
/// until each execute() has returned: no task may destroy the target.
class SPOOL_API serial_executor final : public executor {
public:
    explicit serial_executor(executor& target);
    ~serial_executor() override;

    void execute(task work) override;
    [[nodiscard]] std::string executor_label() const override { return "serial_executor"; }

private:
    class lane;
    std::shared_ptr<lane> lane_;
};

}  // namespace spool::inline v1
