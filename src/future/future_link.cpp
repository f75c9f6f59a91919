#include "spool/detail/future_link.hpp"

#include "spool/future/detail/future_core.hpp"

namespace spool::inline v1 {

constinit thread_local nested_waiter* nested_waiter::current_ = nullptr;

// A state that lies in queues by itself names no pool here: only its queue sets an unmarked word.
bool future_link::set_home(const void* pool) const noexcept {
    return core_->move_start(core_->listed() == nullptr ? pool : nullptr);
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

void future_link::set_keeper(const void* pool) const noexcept {
    using core = detail::future_core;
    const void* const to = core_->listed() == nullptr ? core::at(pool, core::home_use::kept) : nullptr;
    if (core_->start() != to) {  // a state in no queue yet may name nothing: no write
        static_cast<void>(core_->move_start(to));
    }
}

bool future_link::claim(const void* pool) const noexcept {
    return core_->move_start(detail::future_core::at(pool, detail::future_core::home_use::in_hand));
}

bool future_link::take_home_away() const noexcept {
    return core_->move_start(detail::future_core::out_mark());
}

bool future_link::is_stale() const noexcept {
    return core_->claimed_by_waiter();
}

bool future_link::is_cancelled() const noexcept {
    return core_->now() == detail::phase::cancelled;
}

std::uint64_t future_link::runs() const noexcept {
    const detail::listed_ops* const list = core_->listed();
    return list != nullptr ? list->runs(*core_) : 0;
}

const char* future_link::kind() const noexcept {
    return core_->body_name();
}
const std::type_info& future_link::body_type() const noexcept {
    return core_->body_type();
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

late_home::late_home(const task& work) noexcept
    : core_(static_cast<detail::future_core*>(work.shared_state())) {
    if (core_ != nullptr) {
        core_->add_reference();
    }
}

late_home::~late_home() {
    if (core_ != nullptr) {
        core_->drop_reference();
    }
}

void late_home::set(const void* pool) const noexcept {
    if (core_ != nullptr && core_->listed() == nullptr) {
        core_->move_start_from_null(pool);
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
