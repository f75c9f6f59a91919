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

/// Starts a thread for each task, at once and without limit. For a few long tasks that mostly wait.
/// For many or short tasks, a pool is better.
///
///     spool::thread_per_task_executor threads{"io"};
///     auto page = threads.submit([] { return fetch("index.html"); });
///
/// Nothing ever waits in a queue, so shutdown_now() returns no tasks; it requests stop of the
/// running ones. What a plain task throws is reported on stderr. `interrupted` is a normal end for
/// a task whose stop was requested.
///
/// If no thread can be started, execute() throws rejected_execution with reason no_thread.
///
/// Lifetime: the destructor calls close(). After it no thread of this executor exists: each has
/// been joined. If a thread of the executor itself calls close(), close() waits for all threads
/// that have not called close() too. The destructor then detaches that one thread.
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
    // Shared with every thread: a thread may outlive the executor (see above).
    std::shared_ptr<threads> threads_;
};

}  // namespace spool::inline v1
