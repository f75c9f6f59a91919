// direct_executor: runs each task on the calling thread. The smallest correct executor, so a good
// first read.
#pragma once

#include "spool/detail/task_scope.hpp"
#include "spool/executor/executor.hpp"

namespace spool::inline v1 {

/// Runs the task before execute() returns, on the calling thread, in its own task scope.
///
///     spool::direct_executor here;
///     spool::submit(here, [] { return 6 * 7; }).get();   // no thread involved
///
/// For tests, and for APIs that want an executor where none is needed. What a task throws comes out
/// of execute().
class direct_executor final : public executor {
public:
    [[nodiscard]] std::string executor_label() const override { return "direct_executor"; }
    void execute(task work) override {
        require_callable(work, "direct_executor");
        const task_scope scope{work};
        work();
    }
};

}  // namespace spool::inline v1
