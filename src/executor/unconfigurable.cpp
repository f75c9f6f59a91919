#include "spool/executor/unconfigurable.hpp"

#include <stdexcept>

namespace spool::inline v1 {

unconfigurable_service::unconfigurable_service(std::unique_ptr<executor_service> service)
    : service_(std::move(service)) {
    if (service_ == nullptr) {
        throw std::invalid_argument("unconfigurable: the service is null");
    }
}

unconfigurable_service::~unconfigurable_service() {
    service_->close();
}

void unconfigurable_service::execute(task work) {
    service_->execute(std::move(work));
}
void unconfigurable_service::execute_all(std::span<task> work) {
    service_->execute_all(work);
}
const task_decorator* unconfigurable_service::decorator() const noexcept {
    return service_->decorator();
}
void unconfigurable_service::shutdown() {
    service_->shutdown();
}
std::vector<task> unconfigurable_service::shutdown_now() {
    return service_->shutdown_now();
}
bool unconfigurable_service::is_shutdown() const {
    return service_->is_shutdown();
}
bool unconfigurable_service::is_terminated() const {
    return service_->is_terminated();
}
bool unconfigurable_service::is_terminating() const {
    return service_->is_terminating();
}
bool unconfigurable_service::await_termination_until(deadline until, std::stop_token stop) {
    return service_->await_termination_until(until, std::move(stop));
}
void unconfigurable_service::close() {
    service_->close();
}

submit_only::~submit_only() = default;

void submit_only::execute(task work) {
    service_->execute(std::move(work));
}
void submit_only::execute_all(std::span<task> work) {
    service_->execute_all(work);
}
const task_decorator* submit_only::decorator() const noexcept {
    return service_->decorator();
}

unconfigurable_service unconfigurable(std::unique_ptr<executor_service> service) {
    return unconfigurable_service{std::move(service)};
}

}  // namespace spool::inline v1
