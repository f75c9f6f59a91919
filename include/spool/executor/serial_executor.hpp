// serial_executor: one task after the other, on the threads of another executor.
#pragma once

#include <memory>

#include "spool/base/export.hpp"
#include "spool/executor/executor.hpp"

namespace spool::inline v1 {

/// Runs its tasks one at a time, in the order of submission, on another executor: a lock that nobody waits for. What one task
/// did is visible to the next.
///
///     spool::serial_executor account{pool};        // many of these may share one pool
///     account.execute([&] { balance += 10; });     // no mutex needed round `balance`
///     account.execute([&] { balance -= 3; });
///
/// It asks the target for a thread when its first task comes, and hands the thread back after 32
/// tasks: it queues for the next turn behind what the target has queued already. If the target
/// refuses that (it was shut down, or it is full), the remaining tasks run where they are. A task
/// that throws does not hold up the next: the exception goes to the target, as if the task had been
/// executed there.
///
/// A task is accepted when execute() returns, and then it runs. execute() asks the target unless
/// the lane has a thread, or a place in the target's queue. So it waits, or throws, as the target's
/// own execute() does then. A refusal concerns that one task: the target's exception comes out of
/// that one call.
///
/// There is one exception: the target destroys, unrun, what it has accepted (shutdown_now() whose
/// list is thrown away, or discard_oldest_policy). Then the tasks that wait here are destroyed:
/// their futures are cancelled, and the number of the others is reported on stderr.
///
/// Thread safety: execute() from any thread, also from its own tasks. It may be destroyed while tasks wait: they still
/// run. The target must live until they have, and until each execute() has returned: no task may destroy it.
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
