#include "spool/schedule/detail/timer.hpp"

#include "schedule/timer_queue.hpp"

namespace spool::inline v1::detail {
namespace {

constexpr listed_ops timer_ops{
    .try_take = [](future_core& state,
                   const void* pool) { return timer_queue::take_if_due(static_cast<timer&>(state), pool); },
    .place = [](const future_core& state) { return timer_queue::place_of(static_cast<const timer&>(state)); },
    .cancelled =
        [](future_core& state) noexcept { timer_queue::remove_cancelled(static_cast<timer&>(state)); },
    .runs = [](const future_core& state) noexcept { return static_cast<const timer&>(state).counts().runs; },
};

}  // namespace

timer::~timer() = default;

timer* timer::of(future_core& state) noexcept {
    return state.listed() == &timer_ops ? static_cast<timer*>(&state) : nullptr;
}

const listed_ops* timer::listed() const noexcept {
    return &timer_ops;
}

std::chrono::nanoseconds timer::delay() const {
    return timer_queue::delay_of(*this);
}

}  // namespace spool::inline v1::detail
