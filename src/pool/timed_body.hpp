// timed_body: a task that remembers when it was submitted. Only with pool_options::task_times.
#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "spool/base/task.hpp"
#include "spool/base/task_scope.hpp"

namespace spool::inline v1 {

/// Stands for the inner task in every respect: id, priority, due time, future, group.
class timed_body {
public:
    using brings_task_scope = void;

    /// Allocates before it takes the task: if that throws, the task is where it was.
    explicit timed_body(task& work) : data_(std::make_unique<data>()) { data_->inner = std::move(work); }

    void operator()() { data_->inner(); }
    [[nodiscard]] task_id id() const noexcept { return data_->inner.id(); }
    [[nodiscard]] void* shared_state() const noexcept { return data_->inner.shared_state(); }
    [[nodiscard]] const void* owner() const noexcept { return data_->inner.owner(); }
    [[nodiscard]] int priority() const { return data_->inner.priority(); }
    [[nodiscard]] due_time due() const { return data_->inner.due(); }

    [[nodiscard]] task release() noexcept { return std::move(data_->inner); }
    [[nodiscard]] std::chrono::steady_clock::time_point submitted() const noexcept {
        return data_->submitted;
    }

private:
    struct data {
        task inner;
        std::chrono::steady_clock::time_point submitted = std::chrono::steady_clock::now();
    };
    std::unique_ptr<data> data_;
};

}  // namespace spool::inline v1
