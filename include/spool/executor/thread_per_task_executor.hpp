// thread_per_task_executor: a new thread for every task.
#pragma once

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "spool/base/export.hpp"
#include "spool/executor/executor_service.hpp"

namespace spool::inline v1 {

/// Starts a thread for each task, at once and without limit. For a few long tasks that mostly wait; where tasks
/// are many or short, a pool is better.
///
///     spool::thread_per_task_executor threads{"io"};
///     auto page = threads.submit([] { return fetch("index.html"); });
///
/// Nothing ever waits in a queue, so shutdown_now() hands back nothing; it requests stop of what runs. What a plain task
/// throws is reported on stderr; `interrupted` leaving a task whose stop was requested is a normal end.
///
/// If no thread can be started, execute() throws rejected_execution with reason no_thread.
///
/// Lifetime: the destructor calls close(): after it no thread of this executor exists, each has been joined. Called
/// on a thread of its own, close() waits for all the others, and the destructor then lets this one thread go.
class SPOOL_API thread_per_task_executor final : public executor_service {
public:
    /// `name` appears in messages.
    explicit thread_per_task_executor(std::string name = "thread-per-task");
    ~thread_per_task_executor() override;

    void execute(task work) override;
    [[nodiscard]] std::string executor_label() const override { return "thread_per_task_executor"; }

    void shutdown() override;
    std::vector<task> shutdown_now() override;
    [[nodiscard]] bool is_shutdown() const override;
    [[nodiscard]] bool is_terminated() const override;
    bool await_termination_until(deadline until, std::stop_token stop) override;
    void close() override;

    /// How many tasks run now.
    [[nodiscard]] std::size_t thread_count() const;

private:
    class threads;
    std::shared_ptr<threads> threads_;  // shared with every thread: one may outlive the executor (see above)
};

}  // namespace spool::inline v1
