// rejection_path: what happens to a task that the pool refuses.
#pragma once

#include <exception>

#include "pool/pool.hpp"
#include "spool/base/error.hpp"
#include "spool/pool/thread_pool_executor.hpp"

namespace spool::inline v1 {

class rejection_path {
public:
    explicit rejection_path(detail::pool& pool) noexcept : pool_(pool) {}

    /// Hands a task that was not accepted to the rejection policy, or throws what the factory
    /// threw.
    void refuse(task&& work, admission_result how, const std::exception_ptr& start_error);
    /// Counts a task as rejected and calls the hook.
    void count(const task& work, rejection_reason reason);
    void count(task_id id, int priority, rejection_reason reason);

private:
    [[noreturn]] void rethrow_start_error(const std::exception_ptr& error) const;

    detail::pool& pool_;
};

}  // namespace spool::inline v1
