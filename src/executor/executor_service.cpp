#include "spool/executor/executor_service.hpp"

#include "spool/base/error.hpp"

namespace spool::inline v1 {

executor_service::~executor_service() = default;

void executor_service::close() {
    shutdown();
    try {
        static_cast<void>(await_termination_until(deadline::never(), this_task::stop_token()));
    } catch (const interrupted&) {
        // Destroys the returned tasks, which cancels their futures.
        static_cast<void>(shutdown_now());
        static_cast<void>(await_termination_until(deadline::never(), {}));
    }
}

shutdown_report shutdown_and_await(executor_service& service, std::chrono::nanoseconds grace,
                                   std::chrono::nanoseconds stop_grace) {
    const auto ended_within = [&service](std::chrono::nanoseconds d) {
        try {
            return service.await_termination(d);
        } catch (const interrupted&) {
            return service.is_terminated();
        }
    };
    service.shutdown();
    if (ended_within(grace)) {
        return {{}, true};
    }
    std::vector<task> never_ran = service.shutdown_now();
    const bool terminated = ended_within(stop_grace);
    return {std::move(never_ran), terminated};
}

}  // namespace spool::inline v1
