// self_service: how a worker that waits for a task of its own pool comes to run it (see future_link).
#pragma once

#include "pool/pool_core.hpp"

namespace spool::inline v1 {

class thread_pool_executor::core::self_service final : public nested_waiter {
public:
    /// Nested waits may be so deep on one thread; what lies deeper waits like any other thread.
    static constexpr std::uint32_t deepest = 256;

    self_service(core& pool, worker& w) noexcept
        : nested_waiter(&pool), pool_(pool), worker_(w), outer_(current()) {
        set_current(this);
    }
    ~self_service() { set_current(outer_); }

    [[nodiscard]] bool may_run_here() const noexcept override {
        return worker_.depth.load() < deepest && worker_.stage == worker_stage::working;
    }
    void run_here(future_link body, const std::stop_token& stop) override {
        pool_.run_claimed(worker_, body, stop);
    }
    void run_here(task body, const std::stop_token& stop) override { pool_.run_taken(worker_, body, stop); }

    /// The worker that this thread is, if it is one of `pool`.
    [[nodiscard]] static worker* of(const core& pool) noexcept {
        nested_waiter* const waiter = current();
        return waiter != nullptr && waiter->home() == &pool ? &static_cast<self_service*>(waiter)->worker_
                                                            : nullptr;
    }

    /// See deadlock_watch.
    wait_result wait_for(std::span<const future_link> any, const std::stop_token& stop,
                         function_ref<wait_result(deadline)> sleep) override;
    [[nodiscard]] core& pool() const noexcept { return pool_; }
    [[nodiscard]] const worker& self() const noexcept { return worker_; }

    /// In a forked child: its task has lost its pool, as if it had destroyed that itself. And the one around it on this thread.
    void let_go() noexcept { worker_.stage = worker_stage::let_go; }
    [[nodiscard]] self_service* outer() const noexcept { return dynamic_cast<self_service*>(outer_); }

private:
    core& pool_;
    worker& worker_;
    nested_waiter* const outer_;  // a factory may run the body on a worker of another pool
};

}  // namespace spool::inline v1
