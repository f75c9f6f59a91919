// The exceptions of Spool: rejected_execution, cancelled, timed_out, interrupted, deadlock. A wrong
// argument throws std::invalid_argument, wrong use of an object std::logic_error.
#pragma once

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "spool/base/export.hpp"

namespace spool::inline v1 {

class task_scope;

/// Why an executor refused a task, or dropped one that it had accepted.
enum class rejection_reason {
    full,                ///< the queue is full and no further thread may be started
    shut_down,           ///< the executor no longer accepts tasks
    evicted,             ///< a newer task pushed it out of the queue
    no_thread,           ///< no thread runs that could take it, and none could be started
    broker_unavailable,  ///< remote executors only: the broker did not answer in time
};

/// The reason as it appears in messages: "queue full", "shut down", "evicted", "no thread",
/// "broker unavailable".
[[nodiscard]] SPOOL_API std::string_view to_string(rejection_reason reason) noexcept;

/// An executor refused a task. what() names the executor, the reason and the numbers behind it:
///
///     thread_per_task_executor "io": task rejected, shut down (threads running 3)
class SPOOL_API rejected_execution : public std::runtime_error {
public:
    /// `executor` names the executor that refused. `numbers` is the state that explains why; it may
    /// be empty.
    rejected_execution(rejection_reason reason, std::string_view executor, std::string_view numbers = {});
    rejected_execution(const rejected_execution&) noexcept;
    rejected_execution& operator=(const rejected_execution&) noexcept;
    ~rejected_execution() override;

    [[nodiscard]] rejection_reason reason() const noexcept { return reason_; }
    /// The executor that refused, for example `thread_per_task_executor "io"`.
    [[nodiscard]] const std::string& executor() const noexcept { return *executor_; }

private:
    rejection_reason reason_;
    std::shared_ptr<const std::string> executor_;  // shared: copying an exception must not throw
};

/// The future's task was cancelled, or was destroyed before it ran.
class SPOOL_API cancelled : public std::runtime_error {
public:
    cancelled();
    explicit cancelled(const std::string& what);
    cancelled(const cancelled&) noexcept;
    cancelled& operator=(const cancelled&) noexcept;
    ~cancelled() override;
};

/// A wait reached its deadline, or a task had not begun by its expiry time (see expires_at).
class SPOOL_API timed_out : public std::runtime_error {
public:
    explicit timed_out(const std::string& what);
    timed_out(const timed_out&) noexcept;
    timed_out& operator=(const timed_out&) noexcept;
    ~timed_out() override;
};

/// A stop request ended a wait: a request to the task that waits, or on the token given to the
/// wait. A task may let this exception escape: if the task's stop was requested, that counts as a
/// normal end.
class SPOOL_API interrupted : public std::runtime_error {
public:
    explicit interrupted(const std::string& what);
    interrupted(const interrupted&) noexcept;
    interrupted& operator=(const interrupted&) noexcept;
    ~interrupted() override;
};

/// Workers wait for each other, and the library chose to end this wait (see deadlock_policy).
/// what() names all of these workers.
class SPOOL_API deadlock : public std::runtime_error {
public:
    explicit deadlock(const std::string& what);
    deadlock(const deadlock&) noexcept;
    deadlock& operator=(const deadlock&) noexcept;
    ~deadlock() override;
};

/// The text of an exception for people: what() of a std::exception, else that it is of another
/// type.
[[nodiscard]] SPOOL_API std::string describe(const std::exception_ptr& error);

/// For executors: whether the exception that left a task is a normal end of the task. That is
/// `interrupted` after a stop was requested of the task's scope. `scope` may be null.
[[nodiscard]] SPOOL_API bool is_normal_exit(const std::exception_ptr& error,
                                            const task_scope* scope) noexcept;

/// Writes one line to stderr, "spool: uncaught exception in <where>: <what>", with a single
/// fwrite(). For an exception that no caller is left to catch. Never throws.
SPOOL_API void report_uncaught(std::string_view where, const std::exception_ptr& error) noexcept;

}  // namespace spool::inline v1
