#include "spool/sync/spinning.hpp"

#include <bit>
#include <thread>

#include "spool/base/default_parallelism.hpp"
#include "spool/sync/backoff.hpp"

namespace spool::inline v1 {
namespace {

constexpr unsigned pauses_per_turn = 4;
// Whoever is waited for may sit on this very CPU, woken a moment ago: so it gets a chance early, but seldom at first.
constexpr unsigned first_yield = 4;
constexpr unsigned last_seldom_yield = 32;

constinit std::atomic<bool> can_help{false};
constinit thread_local recent_waits this_threads_waits;

}  // namespace

bool spin_turns::next() noexcept {
    for (unsigned i = 0; i < pauses_per_turn; ++i) {
        backoff::relax();
    }
    ++turns_;
    if (turns_ > last_seldom_yield || (turns_ >= first_yield && std::has_single_bit(turns_))) {
        std::this_thread::yield();
    }
    return deadline::clock::now() < until_;
}

bool spinning_can_help() noexcept {
    return can_help.load(std::memory_order_relaxed);  // relaxed, hint
}

void learn_whether_spinning_can_help() noexcept {
    static const bool several = default_parallelism() > 1;
    can_help.store(several, std::memory_order_relaxed);  // relaxed, hint
}

recent_waits& waits_of_this_thread() noexcept {
    return this_threads_waits;
}

}  // namespace spool::inline v1
