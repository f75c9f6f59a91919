// worker_body: the task that a thread factory gets to run.
#pragma once

#include "pool/pool.hpp"

namespace spool::inline v1 {

/// Keeps the pool's core and the worker alive while the thread works. If the body is destroyed
/// without having run, the destructor tells the pool.
class detail::pool::worker_body {
public:
    worker_body(std::shared_ptr<detail::pool> pool, std::shared_ptr<worker> self) noexcept
        : pool_(std::move(pool)), self_(std::move(self)) {}
    worker_body(worker_body&&) noexcept = default;
    worker_body& operator=(worker_body&&) = delete;
    ~worker_body() {
        if (pool_ != nullptr) {
            pool_->body_dropped(*self_);
        }
    }
    void operator()() {
        const std::shared_ptr<detail::pool> pool = std::move(pool_);
        if (pool != nullptr) {  // null when a factory calls it a second time
            pool->work(self_);
        }
    }

private:
    std::shared_ptr<detail::pool> pool_;
    std::shared_ptr<worker> self_;
};

}  // namespace spool::inline v1
