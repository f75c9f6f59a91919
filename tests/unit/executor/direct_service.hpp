// direct_service: the smallest executor_service, which runs each task in the caller.
#pragma once

#include <atomic>
#include <stop_token>
#include <utility>
#include <vector>

#include "spool/base/error.hpp"
#include "spool/detail/task_scope.hpp"
#include "spool/executor/executor_service.hpp"

namespace test {

/// Provides only execute() and a life of two states. The base class does everything with futures.
class direct_service final : public spool::executor_service {
public:
    void execute(spool::task work) override {
        spool::require_callable(work, executor_label());
        if (shut_down_) {
            throw spool::rejected_execution(spool::rejection_reason::shut_down, "direct_service");
        }
        ++executed_;
        const spool::task_scope scope{work};
        work();
    }

    void shutdown() override { shut_down_ = true; }
    std::vector<spool::task> shutdown_now() override {
        shut_down_ = true;
        return {};
    }
    [[nodiscard]] bool is_shutdown() const override { return shut_down_; }
    [[nodiscard]] bool is_terminated() const override { return shut_down_; }
    bool await_termination_until(spool::deadline, std::stop_token) override { return shut_down_; }

    /// How many tasks execute() has accepted.
    [[nodiscard]] int executed() const { return executed_; }

private:
    std::atomic<bool> shut_down_{false};
    std::atomic<int> executed_{0};
};

}  // namespace test
