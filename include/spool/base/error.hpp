// What Spool throws: rejected_execution, cancelled, timed_out, interrupted, deadlock. Wrong arguments are
// std::invalid_argument, wrong use of an object is std::logic_error.
#pragma once

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "spool/base/export.hpp"

namespace spool::inline v1 {

/// Why an executor did not take (or did not keep) a task.
enum class rejection_reason {
    full,       ///< the queue is full and no further thread may be started
    shut_down,  ///< the executor no longer accepts tasks
    evicted,    ///< pushed out of the queue by a newer task
    no_thread,  ///< the only thread that could have run it could not be started
};

/// The reason as it appears in messages: "queue full", "shut down", "evicted", "no thread".
[[nodiscard]] SPOOL_API std::string_view to_string(rejection_reason reason) noexcept;

/// An executor refused a task. what() names the executor, the reason and the numbers behind it:
///
///     thread_per_task_executor "io": task rejected, shut down (threads running 3)
class SPOOL_API rejected_execution : public std::runtime_error {
public:
    /// `executor` says who refused, `numbers` is the state that explains why (may be empty).
    rejected_execution(rejection_reason reason, std::string_view executor, std::string_view numbers = {});
    rejected_execution(const rejected_execution&) noexcept;
    rejected_execution& operator=(const rejected_execution&) noexcept;
    ~rejected_execution() override;

    [[nodiscard]] rejection_reason reason() const noexcept { return reason_; }
    /// Who refused, for example `thread_per_task_executor "io"`.
    [[nodiscard]] const std::string& executor() const noexcept { return *executor_; }

private:
    rejection_reason reason_;
    std::shared_ptr<const std::string> executor_;  // shared: copying an exception must not throw
};

/// The task of this future was cancelled, or was destroyed without having run.
class SPOOL_API cancelled : public std::runtime_error {
public:
    cancelled();
    explicit cancelled(const std::string& what);
    cancelled(const cancelled&) noexcept;
    cancelled& operator=(const cancelled&) noexcept;
    ~cancelled() override;
};

/// The time limit of a wait passed first, or that of a task which had not begun (see expires_at).
class SPOOL_API timed_out : public std::runtime_error {
public:
    explicit timed_out(const std::string& what);
    timed_out(const timed_out&) noexcept;
    timed_out& operator=(const timed_out&) noexcept;
    ~timed_out() override;
};

/// A stop was requested (of the task that waits, or of the token given to the wait) before what was
/// waited for came. A task may let it pass: leaving a task whose stop was requested, it is a normal end.
class SPOOL_API interrupted : public std::runtime_error {
public:
    explicit interrupted(const std::string& what);
    interrupted(const interrupted&) noexcept;
    interrupted& operator=(const interrupted&) noexcept;
    ~interrupted() override;
};

/// Workers wait for each other, and this wait was chosen to give way (see deadlock_policy). what() names them all.
class SPOOL_API deadlock : public std::runtime_error {
public:
    explicit deadlock(const std::string& what);
    deadlock(const deadlock&) noexcept;
    deadlock& operator=(const deadlock&) noexcept;
    ~deadlock() override;
};

/// Text of an exception for people: what() of a std::exception, or that it is of another type.
[[nodiscard]] SPOOL_API std::string describe(const std::exception_ptr& error);

/// Writes one line on stderr, "spool: uncaught exception in <where>: <what>", in one piece. This is where
/// an exception ends up that nobody is left to catch. Never throws.
SPOOL_API void report_uncaught(std::string_view where, const std::exception_ptr& error) noexcept;

}  // namespace spool::inline v1
