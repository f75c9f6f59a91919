// unconfigurable: hides the settings of a service, or also its lifecycle.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "spool/base/export.hpp"
#include "spool/executor/executor_service.hpp"

namespace spool::inline v1 {

/// Owns a service and exposes only the interface of executor_service. A user can run tasks and shut
/// the service down, but cannot cast it to the pool and change its settings. Destroying this object
/// closes the service.
class SPOOL_API unconfigurable_service : public executor_service {
public:
    /// \throws std::invalid_argument if `service` is null
    explicit unconfigurable_service(std::unique_ptr<executor_service> service);
    ~unconfigurable_service() override;

    void execute(task work) override { service_->execute(std::move(work)); }
    void execute_all(std::span<task> work) override { service_->execute_all(work); }
    using executor::execute_all;
    [[nodiscard]] const task_decorator* decorator() const noexcept override { return service_->decorator(); }
    [[nodiscard]] std::string executor_label() const override { return service_->executor_label(); }
    void shutdown() override { service_->shutdown(); }
    std::vector<task> shutdown_now() override { return service_->shutdown_now(); }
    [[nodiscard]] bool is_shutdown() const override { return service_->is_shutdown(); }
    [[nodiscard]] bool is_terminated() const override { return service_->is_terminated(); }
    [[nodiscard]] bool is_terminating() const override { return service_->is_terminating(); }
    bool await_termination_until(deadline until, std::stop_token stop) override {
        return service_->await_termination_until(until, std::move(stop));
    }
    void close() override { service_->close(); }

private:
    const std::unique_ptr<executor_service> service_;
};

/// Refers to a service that it does not own, and can only run tasks on it: it has no shutdown.
class SPOOL_API submit_only final : public executor {
public:
    explicit submit_only(executor_service& service) noexcept : service_(&service) {}
    ~submit_only() override;

    void execute(task work) override { service_->execute(std::move(work)); }
    void execute_all(std::span<task> work) override { service_->execute_all(work); }
    using executor::execute_all;
    [[nodiscard]] const task_decorator* decorator() const noexcept override { return service_->decorator(); }
    [[nodiscard]] std::string executor_label() const override { return service_->executor_label(); }

    /// As on the service itself; see executor_service.
    template <task_callable F>
    [[nodiscard]] auto submit(F&& f) {
        return spool::submit(*service_, std::forward<F>(f));
    }
    template <task_callable F>
    [[nodiscard]] auto submit(std::stop_token stop, F&& f) {
        return spool::submit(*service_, std::move(stop), std::forward<F>(f));
    }
    template <task_callable F>
    void submit(F&& f, std::stop_token stop) = delete;  // write submit(stop, f)
    template <task_callable F, class V>
    [[nodiscard]] auto submit(F&& f, V&& value) {
        return spool::submit(*service_, std::forward<F>(f), std::forward<V>(value));
    }

private:
    executor_service* service_;
};

/// Hides the settings of a service. The returned handle owns the service.
///
///     auto one = spool::unconfigurable(std::make_unique<my_pool>(...));
///
/// \throws std::invalid_argument if `service` is null
[[nodiscard]] SPOOL_API unconfigurable_service unconfigurable(std::unique_ptr<executor_service> service);

/// Hides the settings and the lifecycle of a service. The returned handle only refers to the
/// service.
[[nodiscard]] inline submit_only unconfigurable(executor_service& service) noexcept {
    return submit_only{service};
}

}  // namespace spool::inline v1
