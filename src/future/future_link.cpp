#include "spool/detail/future_link.hpp"

#include "spool/future/detail/future_core.hpp"

namespace spool::inline v1 {

using owner = detail::future_owner;

constinit thread_local nested_waiter* nested_waiter::current_ = nullptr;

// The queue of a state that lies there by itself writes the owner, once the state is in.
void future_link::publish(const void* pool) const noexcept {
    if (core_->listed() == nullptr) {
        core_->publish(pool);
    } else {
        core_->publish_closed({});
    }
}

void future_link::publish_closed(const void* pool) const noexcept {
    core_->publish_closed(core_->listed() == nullptr ? owner::pool_only(pool) : owner{});
}

void future_link::set_submitted(std::chrono::steady_clock::time_point when) const noexcept {
    core_->stamp = when;
}

std::chrono::steady_clock::time_point future_link::submitted() const noexcept {
    return core_->stamp;
}

int future_link::priority() const noexcept {
    return core_->priority;
}

auto future_link::withdraw() const noexcept -> claim {
    return core_->withdraw();
}

auto future_link::try_hold() const noexcept -> claim {
    return core_->try_hold();
}

auto future_link::hand_back() const noexcept -> claim {
    return core_->hand_back();
}

bool future_link::is_stale() const noexcept {
    return core_->is_stale();
}

bool future_link::is_cancelled() const noexcept {
    return core_->now() == detail::phase::cancelled;
}

std::uint64_t future_link::runs() const noexcept {
    const detail::listed_ops* const list = core_->listed();
    return list != nullptr ? list->runs(*core_) : 0;
}

task_id future_link::id() const noexcept {
    return core_->id();
}

void future_link::run() const {
    core_->run();
}

void future_link::cancel() const {
    core_->cancel(cancel_mode::let_run);
}

late_publication::late_publication(const task& work, const void* pool) noexcept
    : core_(static_cast<detail::future_core*>(work.shared_state())), pool_(pool) {
    if (core_ != nullptr && core_->listed() != nullptr) {
        core_ = nullptr;
    }
    if (core_ != nullptr) {
        core_->add_reference();
        core_->publish_closed(owner::pool(pool));
    }
}

late_publication::~late_publication() {
    if (core_ != nullptr) {
        core_->drop_reference();
    }
}

void late_publication::publish() const noexcept {
    if (core_ != nullptr) {
        core_->publish_late(pool_);
    }
}

void late_publication::withdraw() const noexcept {
    if (core_ != nullptr) {
        core_->set_owner({});
    }
}

future_link::place future_link::whereabouts() const {
    return core_->whereabouts();
}

wait_result nested_waiter::wait_for(std::span<const future_link>, const std::stop_token& stop,
                                    sleeper sleep) {
    return sleep({.stop = stop});
}

wait_result nested_waiter::wait_here(std::span<const future_link> any, const std::stop_token& stop,
                                     sleeper sleep) {
    nested_waiter* const worker = current();
    if (worker == nullptr) {
        return sleep({.stop = stop});
    }
    const wait_result how = sleep({.until = deadline::after(patience), .stop = stop});
    return how == wait_result::timed_out ? worker->wait_for(any, stop, sleep) : how;
}

}  // namespace spool::inline v1
