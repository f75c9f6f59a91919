// carried_task: carries a task that is not a scheduled future through a timer queue.
#pragma once

#include <typeinfo>
#include <utility>

#include "spool/future/future.hpp"

namespace spool::inline v1::detail {

class carried_task final : public future_core {
public:
    carried_task() = default;
    ~carried_task() override = default;

    void carry(task&& work) noexcept { work_ = std::move(work); }
    [[nodiscard]] const task& work() const noexcept { return work_; }

    [[nodiscard]] task take_task() noexcept override {
        task work = std::move(work_);
        delete this;
        return work;
    }

private:
    // Not a real future: no thread runs it or waits for it.
    void run_body(task_scope&) override {}
    void run_body_and_forget() override {}
    void destroy_callable() noexcept override {}
    [[nodiscard]] const std::type_info& body_type() const noexcept override { return typeid(task); }

    task work_;
};

}  // namespace spool::inline v1::detail
