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

submit_only::~submit_only() = default;

unconfigurable_service unconfigurable(std::unique_ptr<executor_service> service) {
    return unconfigurable_service{std::move(service)};
}

}  // namespace spool::inline v1
