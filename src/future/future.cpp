#include "spool/future/future.hpp"

#include <memory>
#include <optional>

namespace spool::inline v1::detail {
namespace {

// Ties a future to an external stop. The future's callback list owns the registration, so the
// thread that completes the future ends it. If another thread is requesting the stop then, its
// cancel() returns at once. So ending the registration waits for no user code.
class stop_registration {
public:
    explicit stop_registration(future_core& core) noexcept : core_(core) { core.add_reference(); }
    stop_registration(const stop_registration&) = delete;
    stop_registration& operator=(const stop_registration&) = delete;
    ~stop_registration() {
        on_stop_.reset();
        core_.drop_reference();
    }
    /// May cancel the future before begin() returns.
    void begin(std::stop_token stop) { on_stop_.emplace(std::move(stop), canceller{&core_}); }

private:
    struct canceller {
        future_core* core;
        void operator()() const noexcept {
            future_core* const mine = core;  // a cancel() that succeeds destroys this object
            mine->add_reference();
            try {
                mine->cancel(cancel_mode::interrupt);
            } catch (...) {  // from an on_done callback
                report_uncaught("an on_done callback of the " + mine->describe(), std::current_exception());
            }
            mine->drop_reference();
        }
    };

    future_core& core_;
    std::optional<std::stop_callback<canceller>> on_stop_;
};

}  // namespace

void cancel_on_stop(future_core& core, std::stop_token stop) {
    if (!stop.stop_possible() || core.is_done()) {
        return;
    }
    auto own = std::make_unique<stop_registration>(core);
    stop_registration& registration = *own;
    auto end = future_core::prepare([own = std::move(own)]() mutable { own.reset(); });
    // The list gets the registration only when it is complete: a stop on another thread must not
    // destroy it before.
    registration.begin(std::move(stop));
    core.on_done(std::move(end));
}

void throw_cancelled(task_id id) {
    throw cancelled("task " + std::to_string(id) + " was cancelled");
}

void throw_no_state(const char* call) {
    throw std::logic_error("future::" + std::string{call} +
                           ": this handle has no state (made without a task, or moved from)");
}

void throw_not_in_time(const char* call, const future_core& core) {
    throw timed_out("future::" + std::string{call} + ": no outcome in time; " + core.describe());
}

void throw_not_now(const char* call, const char* wanted, const future_core& core) {
    throw std::logic_error("future::" + std::string{call} + ": there is not " + wanted + "; " +
                           core.describe());
}

}  // namespace spool::inline v1::detail
