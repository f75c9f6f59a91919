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
/// It asks the target for a thread when its first task comes, and hands the thread back after 32 tasks, so that others get
/// their turn; if the target will not take it any more (it was shut down), the tasks that are left run where they
/// are. A task that throws does not hold up the next: the exception goes to the target, as if the task had been
/// executed there.
///
/// If the target refuses when asked for a thread, the task is not accepted: execute() throws what the target threw. Tasks
/// that other threads had added in that same moment, and all that still wait when the target drops what it has
/// accepted (shutdown_now), are destroyed: their futures are cancelled, and the loss of plain ones is reported on stderr.
///
/// Thread safety: execute() from any thread, also from its own tasks. It may be destroyed while tasks wait: they still
/// run. The target must live until they have.
class SPOOL_API serial_executor final : public executor {
public:
    explicit serial_executor(executor& target);
    ~serial_executor() override;

    void execute(task work) override;

private:
    class lane;
    std::shared_ptr<lane> lane_;
};

}  // namespace spool::inline v1
