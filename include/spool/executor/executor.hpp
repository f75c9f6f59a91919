// executor: something that runs tasks.
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

/// Wraps the body of a task: gets it, returns what is to run in its place.
using task_decorator = std::function<task(task body)>;

/// Something that runs tasks: in the caller, on a pool, one after the other. The interface to hand out where nothing
/// but running is wanted; it has no shutdown().
///
/// Memory ordering: what a thread did before execute() is visible to the task.
class SPOOL_API executor {
public:
    executor() = default;
    executor(const executor&) = delete;
    executor& operator=(const executor&) = delete;
    virtual ~executor();

    /// Takes the task. It is gone from the caller whether this returns or throws.
    /// Precondition: the executor outlives the call. The task may run, and end, before execute() returns: a task that
    /// destroys its executor must wait until the call has returned.
    /// \throws std::invalid_argument if the task is empty
    /// \throws rejected_execution if the executor cannot take it
    virtual void execute(task work) = 0;

    /// Takes several, in order, as execute() does one after the other; a pool can do it for less than that. Each task is gone from the
    /// caller, but for those after one that threw: they are untouched.
    virtual void execute_all(std::span<task> work);
    /// The same for a range of callables. The elements of a container passed as an rvalue are moved, else copied.
    template <std::ranges::input_range Range>
        requires(!std::convertible_to<Range, std::span<task>> &&
                 task_callable<std::ranges::range_value_t<Range>>)
    void execute_all(Range&& callables) {
        std::vector<task> work;
        for (auto&& f : callables) {
            if constexpr (!std::is_lvalue_reference_v<Range> &&
                          !std::ranges::view<std::remove_cvref_t<Range>>) {
                work.emplace_back(std::move(f));
            } else {
                work.emplace_back(f);
            }
        }
        execute_all(std::span<task>{work});
    }

    /// What this executor wraps round the body of every task that becomes a future here (submit, invoke_*, a
    /// completion_service), inside the future: its result counts only after the wrapper has ended. Null: nothing.
    [[nodiscard]] virtual const task_decorator* decorator() const noexcept;

    /// Who this is, for messages: `thread_pool_executor "decode"`. "executor" unless a kind says more.
    [[nodiscard]] virtual std::string executor_label() const;
};

/// For writers of executors: refuses an empty task.
/// \throws std::invalid_argument "<who>: empty callable"
inline void require_callable(const task& work, std::string_view who) {
    if (work.empty()) {
        detail::throw_empty_callable(who);
    }
}

}  // namespace spool::inline v1
