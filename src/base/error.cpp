#include "spool/base/error.hpp"

#include <cstdio>

#include "spool/base/callable.hpp"
#include "spool/base/task_wrappers.hpp"

namespace spool::inline v1 {
namespace {

std::string rejection_text(rejection_reason reason, std::string_view executor, std::string_view numbers) {
    std::string text{executor};
    text += ": task rejected, ";
    text += to_string(reason);
    if (!numbers.empty()) {
        text += " (";
        text += numbers;
        text += ')';
    }
    return text;
}

}  // namespace

std::string_view to_string(rejection_reason reason) noexcept {
    switch (reason) {
        case rejection_reason::full: return "queue full";
        case rejection_reason::shut_down: return "shut down";
        case rejection_reason::evicted: return "evicted";
        case rejection_reason::no_thread: return "no thread";
        case rejection_reason::broker_unavailable: return "broker unavailable";
    }
    return "unknown reason";
}

rejected_execution::rejected_execution(rejection_reason reason, std::string_view executor,
                                       std::string_view numbers)
    : std::runtime_error(rejection_text(reason, executor, numbers)),
      reason_(reason),
      executor_(std::make_shared<const std::string>(executor)) {}

rejected_execution::rejected_execution(const rejected_execution&) noexcept = default;
rejected_execution& rejected_execution::operator=(const rejected_execution&) noexcept = default;
rejected_execution::~rejected_execution() = default;

cancelled::cancelled() : std::runtime_error("the task was cancelled") {}
cancelled::cancelled(const std::string& what) : std::runtime_error(what) {}
cancelled::cancelled(const cancelled&) noexcept = default;
cancelled& cancelled::operator=(const cancelled&) noexcept = default;
cancelled::~cancelled() = default;

timed_out::timed_out(const std::string& what) : std::runtime_error(what) {}
timed_out::timed_out(const timed_out&) noexcept = default;
timed_out& timed_out::operator=(const timed_out&) noexcept = default;
timed_out::~timed_out() = default;

interrupted::interrupted(const std::string& what) : std::runtime_error(what) {}
interrupted::interrupted(const interrupted&) noexcept = default;
interrupted& interrupted::operator=(const interrupted&) noexcept = default;
interrupted::~interrupted() = default;

deadlock::deadlock(const std::string& what) : std::runtime_error(what) {}
deadlock::deadlock(const deadlock&) noexcept = default;
deadlock& deadlock::operator=(const deadlock&) noexcept = default;
deadlock::~deadlock() = default;

std::string describe(const std::exception_ptr& error) {
    if (error == nullptr) {
        return "no exception";
    }
    try {
        std::rethrow_exception(error);
    } catch (const std::exception& e) {
        return e.what();
    } catch (...) {
        return "an exception that is no std::exception";
    }
}

bool is_normal_exit(const std::exception_ptr& error, const task_scope* scope) noexcept {
    if (scope == nullptr || !scope->stop_requested()) {
        return false;
    }
    try {
        std::rethrow_exception(error);
    } catch (const interrupted&) {
        return true;
    } catch (...) {
        return false;
    }
}

void report_uncaught(std::string_view where, const std::exception_ptr& error) noexcept {
    try {
        std::string line = "spool: uncaught exception in ";
        line += where;
        line += ": ";
        line += describe(error);
        line += '\n';
        std::fwrite(line.data(), 1, line.size(), stderr);
    } catch (...) {
        std::fputs("spool: uncaught exception (and no memory to say which)\n", stderr);
    }
}

void detail::throw_expired(due_time when) {
    const auto late = std::chrono::duration_cast<std::chrono::microseconds>(task_scope::clock_now() - when);
    throw timed_out("the task had not begun when its time was over, " + std::to_string(late.count()) +
                    " us ago (expires_at)");
}

void detail::throw_empty_callable(std::string_view origin) {
    throw std::invalid_argument(std::string{origin} + ": empty callable");
}

}  // namespace spool::inline v1
