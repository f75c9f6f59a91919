// done_event: lets threads sleep until a condition holds for good. It is an event_count for a
// one-time event, in a single word, and parks by itself.
//
// THE PROTOCOL
//
//     waiter                                    notifier
//     W1  word |= waiters_bit; key = word       N1  publish the condition
//     W2  re-check the condition                N2  if no waiters_bit: return    <- the usual case
//     W3  sleep while word == key               N3  word += step
//                                               N4  wake all
//
// No wake-up is lost. Either N2 sees W1 or W2 sees N1. This is the handshake of event_count, with
// the same pairs (S) and (M), and with W1 and N2 on one word. If N2 saw W1, there are two cases. If
// N3 came after W1, W3 does not sleep, or N4 wakes it. Otherwise W1 read the value of N3, which
// publishes N1 to the waiter, and W2 sees N1.
// waiters_bit stays set: a notifier that comes after the last waiter has left makes one needless
// system call.
#pragma once

#include <cstdint>
#include <stop_token>

#include "spool/detail/parking.hpp"
#include "spool/detail/pause_point.hpp"
#include "spool/detail/spinning.hpp"
#include "spool/sync/wait_limits.hpp"

namespace spool::inline v1 {

/// Waits for a condition that, once true, stays true.
///
///     done.await([&] { return is_done(); }, {.until = deadline::after(1s)});
///     // first make the condition true, then
///     done.notify_all();
///
/// Thread safety: any thread may call every member. notify_all() without waiters is one load. The
/// done_event must outlive every call on it.
template <class Parking>
class basic_done_event {
public:
    basic_done_event() = default;
    basic_done_event(const basic_done_event&) = delete;
    basic_done_event& operator=(const basic_done_event&) = delete;

    void notify_all() noexcept {
        if ((word_.load() & waiters_bit) != 0) {  // N2
            wake_all();
        }
    }

    /// Waits until ready() is true, stop is requested, or the deadline passes. If several hold at
    /// once, the result is the first of them in this order.
    template <class Ready>
    [[nodiscard]] wait_result await(Ready&& ready, const wait_limits& limits = {}) {
        if (ready()) {
            return wait_result::ready;
        }
        for (spin_loop loop{limits.spin}; limits.spin.count() > 0 && loop.next();) {
            if (ready()) {
                return wait_result::ready;
            }
            if (limits.stop.stop_requested() || limits.until.expired()) {
                break;
            }
        }
        const std::stop_callback on_stop{limits.stop, wake_on_stop{this}};
        for (;;) {
            // If W1 reads the value of N3, that publishes N1 to this thread.
            const std::uint32_t key = word_.fetch_or(waiters_bit) | waiters_bit;  // W1
            SPOOL_PAUSE_POINT("done_event: announced");
            if (ready()) {  // W2
                return wait_result::ready;
            }
            if (limits.stop.stop_requested()) {
                return wait_result::interrupted;
            }
            if (limits.until.expired()) {
                return wait_result::timed_out;
            }
            SPOOL_PAUSE_POINT("done_event: about to park");
            parking_.park(word_, key, limits.until);  // W3
        }
    }

private:
    static constexpr std::uint32_t waiters_bit = 1;
    static constexpr std::uint32_t step = 2;

    void wake_all() noexcept {
        SPOOL_PAUSE_POINT("done_event: found a waiter");
        word_.fetch_add(step);  // N3
        parking_.unpark_all(word_);
    }

    // Skips N2: the stop flag is no seq_cst word, so the handshake must use word_ alone.
    struct wake_on_stop {
        basic_done_event* event;
        void operator()() const noexcept { event->wake_all(); }
    };

    typename Parking::word word_{0};  // publishes the condition of N1
    [[no_unique_address]] Parking parking_;
};

using done_event = basic_done_event<default_parking>;

}  // namespace spool::inline v1
