// executor: the interface for running tasks.
#pragma once

#include <concepts>
#include <functional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "spool/base/export.hpp"
#include "spool/base/task.hpp"

namespace spool::inline v1 {

namespace detail {
class state_depot;
}

/// Wraps the body of a task: receives the body, and returns the task that runs in its place.
using task_decorator = std::function<task(task body)>;

/// Runs tasks: in the caller, on a pool, one after the other. Pass this interface to code that only
/// runs tasks; it has no shutdown().
///
/// Memory ordering: what a thread did before execute() is visible to the task.
class SPOOL_API executor {
public:
    executor() = default;
    executor(const executor&) = delete;
    executor& operator=(const executor&) = delete;
    virtual ~executor();

    /// Takes ownership of the task, whether this call returns or throws. Precondition: the executor
    /// outlives the call. The task may run, and end, before execute() returns. So a task that
    /// destroys its executor must first wait until the call has returned.
    /// \throws std::invalid_argument if the task is empty
    /// \throws rejected_execution if the executor cannot take the task
    virtual void execute(task work) = 0;

    /// Takes several tasks, in order, like one execute() after the other; a pool can do it at lower
    /// cost. If one throws, the tasks after it stay with the caller, untouched. The executor owns
    /// all others.
    virtual void execute_all(std::span<task> work);
    /// The same for a range of callables. Moves the elements of a container passed as an rvalue;
    /// copies them otherwise.
    template <std::ranges::input_range Range>
        requires(!std::convertible_to<Range, std::span<task>> &&
                 task_callable<std::ranges::range_value_t<Range>>)
    void execute_all(Range&& callables) {
        std::vector<task> work;
        for (auto&& f : callables) {
            work.emplace_back(detail::forward_element<Range>(std::forward<decltype(f)>(f)));
        }
        execute_all(std::span<task>{work});
    }

    /// The decorator for every task that becomes a future here (submit, invoke_*, a
    /// completion_service); null: none. It wraps the body inside the future, so the result counts
    /// only after the wrapper has ended.
    [[nodiscard]] virtual const task_decorator* decorator() const noexcept;

    /// For submit(): where the memory of its futures may come from; null: from operator new.
    [[nodiscard]] virtual detail::state_depot* state_memory() const noexcept { return nullptr; }

    /// The name of this executor in messages: `thread_pool_executor "decode"`. The default is
    /// "executor".
    [[nodiscard]] virtual std::string executor_label() const;
};

/// For executor implementations: refuses an empty task.
/// \throws std::invalid_argument "<origin>: empty callable"
inline void require_callable(const task& work, std::string_view origin) {
    if (work.empty()) {
        detail::throw_empty_callable(origin);
    }
}

}  // namespace spool::inline v1
