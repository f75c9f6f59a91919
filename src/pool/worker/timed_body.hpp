// timed_body: a task that remembers when it was submitted: each one with pool_options::task_times,
// a sample with pool_options::measure.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "spool/base/task.hpp"
#include "spool/detail/task_scope.hpp"
#include "spool/detail/thread_sanitizer.hpp"

namespace spool::inline v1 {

/// Forwards every property of the inner task: id, priority, due time, future, group.
class timed_body {
public:
    /// Allocates before it moves the task: if the allocation throws, `work` is untouched. `period`:
    /// how many tasks this one stands for.
    timed_body(task& work, std::uint32_t period) : data_(std::make_unique<data>()) {
        data_->period = period;
        data_->inner = std::move(work);
    }

    void operator()() { data_->inner(); }
    [[nodiscard]] const task& inner() const noexcept { return data_->inner; }
    [[nodiscard]] int priority() const { return data_->inner.priority(); }
    [[nodiscard]] due_time due() const { return data_->inner.due(); }
    [[nodiscard]] bool is_cancelled() const { return data_->inner.is_cancelled(); }

    [[nodiscard]] task release() noexcept { return std::move(data_->inner); }
    [[nodiscard]] std::chrono::steady_clock::time_point submitted() const noexcept {
        return data_->submitted;
    }
    [[nodiscard]] std::uint32_t period() const noexcept { return data_->period; }

private:
    struct data : private detail::freed_by_any_thread {
        task inner;
        std::chrono::steady_clock::time_point submitted = std::chrono::steady_clock::now();
        std::uint32_t period = 1;
    };
    std::unique_ptr<data> data_;
};

template <>
struct detail::task_traits<timed_body> : no_task_traits {
    static constexpr bool is_future_body = true;
    static constexpr bool has_owner = true;
    [[nodiscard]] static task_id id(const timed_body& f) noexcept { return f.inner().id(); }
    [[nodiscard]] static void* shared_state(const timed_body& f) noexcept { return f.inner().shared_state(); }
    [[nodiscard]] static const void* owner(const timed_body& f) noexcept { return f.inner().owner(); }
};

}  // namespace spool::inline v1
