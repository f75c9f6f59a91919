// event_count: lets a thread sleep until a condition over other atomics may have changed. It is the
// library's general blocking primitive. Only done_event parks by itself.
//
// THE PROTOCOL
//
// Two words. waiters_ counts the threads between prepare_wait() and the end of their wait. epoch_
// is the word that they sleep on; it counts the wake-ups given.
//
//     waiter                               notifier
//     W1  waiters_ += 1                    N1  publish the condition
//     W2  key = epoch_                     N2  if waiters_ == 0: return         <- the usual case
//     W3  re-check the condition           N3  epoch_ += 1
//     W4  sleep while epoch_ == key        N4  wake one sleeper, or all
//     W5  waiters_ -= 1
//
// No wake-up is lost. Either N2 sees W1 or W3 sees N1 (the two-variable handshake below). If N2 saw
// W1, there are two cases. If N3 came after W2, W4 does not sleep, or N4 wakes it. Otherwise W2
// read the value of N3, which publishes N1 to the waiter, and W3 sees N1.
//
// The handshake needs each side's write ordered before its own read: W1 before W3, N1 before N2.
// Accepted pairs:
//   (S) N1 is a seq_cst operation on the word that W3 reads with seq_cst; W1 and N2 are seq_cst.
//       In the single total order either N2 follows W1, or N1 precedes W1 and therefore W3.
//   (M) N1 and W3 lie in critical sections of one mutex. If W3's came first, its unlock makes
//       W1 visible to N1's lock, and therefore to N2. Otherwise W3 sees N1.
//   (B) A light barrier stands between N1 and N2, a heavy barrier (barrier.hpp) between W2 and W3.
//       Then N1 may be a mere release. await() takes the heavy barrier as `before_recheck`.
// Each site that notifies names its pair.
//
// Waiters are interchangeable: notify_one() may wake any of them. A woken waiter re-checks its
// condition before it does anything else. So only a waiter that saw the condition after the wake-up
// consumes the wake-up. A waiter that leaves without success after a wake-up (time-out, stop, an
// exception from its check) passes the wake-up on.
//
// THROTTLED WAKE-UPS
//
// Some waiters take one of several things, and then wake the next waiter if there is more. A
// notifier need not wake a second such waiter while the first is still on its way. wake_pending_
// says whether a waiter is on its way. Its two lowest bits are the kind. The other bits are a
// timestamp: since when a notifier relies on that waiter.
//
//     none        no waiter is on its way
//     woken       a notifier woke a waiter at that time, and the waiter has not re-checked yet
//     spinning    a waiter spins: it polls its condition before it goes to sleep (no timestamp)
//     relied_on   the same, and a notifier relies on the spinning waiter since that time
//
//     waiter                                   notifier
//     W1, W2                                   N1, N2
//     W2' wake_pending_ = none                 T1  woken or relied_on, and recent: return
//     W3, W4, W5                               T2  spinning -> relied_on since now, and return.
//     S1  none -> spinning, then it spins          Anything else -> woken now.
//     S2  wake_pending_ = none, when the spin      If wake_pending_ has changed since T1: return
//         ends; W1 to W5 if it found nothing   N3, N4
//
// S2 counts as a W2'. The check that follows S2 counts as its W3.
// No published thing is overlooked. If T1 or T2 finds a waiter on its way, that waiter's W2' comes
// later, and its W3 sees N1. With pair (S), N1, T1, W2' and W3 follow each other in the single
// total order. With pair (M), W2' comes after T1, so W3's critical section cannot precede that of
// N1, and W3 sees N1. With pair (B), N1 may not be visible yet when a spinning waiter reaches S2,
// because that waiter polls without a heavy barrier. So with pair (B) the notifier first makes a
// read-modify-write of wake_pending_ (T0, in publish_before_notify()), which publishes N1 to W2'.
// If wake_pending_ changed between T1 and T2, there are two cases. If a W2' came after T1, the W3
// behind it sees N1. Otherwise another notifier came first, and the W2' of the waiter that it woke
// is still to come.
// That W2' does come: a waiter that reads epoch_ after the notifier's N3 does its W2' next. If
// there is none, each sleeper read epoch_ before N3, so N4 wakes a sleeper, which repeats W1 to W3.
// After a woken waiter has taken what it found, it must call notify_unless_wake_pending() if there
// is more (with pair (B) after T0, like the publisher).
//
// The timestamp bounds how long published things wait for a waiter without a CPU while idle waiters
// could run. A waiter may lose its CPU while it spins, or get none after it was woken: a thread of
// higher priority may hold the CPU that the waiter is pinned to. Notifiers rely on a spinning or
// woken waiter for 40 us (spin_timestamp, wake_timestamp), about the time that waking another one
// takes. After that time the next notifier wakes another sleeper and sets the timestamp again, so
// each such period wakes at most one more. Until then, published things wait for that notifier or
// for the late waiter. A throttled notifier reads the clock only after N2 has found a waiter: for
// the age of a pending wake-up, or to record a new timestamp.
// When a notifier has woken a second waiter for a late one, two waiters are on their way. The first
// W2' stands for both, since its W3 sees all that was published before. The other waiter finds less
// or nothing, as after a spurious wake-up.
//
// epoch_ wraps after 2^32 wake-ups. A waiter oversleeps only if exactly that many fall between its
// W2 and W4.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <stop_token>
#include <utility>

#include "spool/detail/parking.hpp"
#include "spool/detail/pause_point.hpp"
#include "spool/detail/spinning.hpp"
#include "spool/sync/wait_limits.hpp"

namespace spool::inline v1 {

/// Two-phase waiting, over a way to park (futex_parking, portable_parking).
///
///     // waiting: await() does the two phases
///     ready.await([&] { return queue_is_not_empty(); }, {.until = deadline::after(1s)});
///     // waking: first make the condition true, then
///     ready.notify_one();
///
/// Thread safety: any thread may call every member. notify_*() without waiters is one load. The
/// event_count must outlive every call on it. A notifier whose event_count the woken thread may
/// destroy must keep a reference to the owner during the call.
template <class Parking>
class basic_event_count {
public:
    using key = std::uint32_t;

    basic_event_count() = default;
    basic_event_count(const basic_event_count&) = delete;
    basic_event_count& operator=(const basic_event_count&) = delete;

    /// First phase. The caller then re-checks its condition, and calls exactly one of
    /// cancel_wait() and wait().
    [[nodiscard]] key prepare_wait() noexcept {
        waiters_.fetch_add(1);  // W1
        SPOOL_PAUSE_POINT("event_count: announced");
        const key k = epoch_.load();  // W2: reading the value of N3 publishes N1
        if (wake_pending_.load() != none) {
            SPOOL_PAUSE_POINT("event_count: about to let others be woken");
            wake_pending_.exchange(none);  // W2'
        }
        return k;
    }
    void cancel_wait() noexcept { waiters_.fetch_sub(1); }

    /// Second phase: sleeps until a notify that came after prepare_wait(), or until `until`; may
    /// return spuriously. Returns true if there was such a notify.
    bool wait(key k, deadline until = deadline::never()) noexcept {
        if (epoch_.load() == k) {
            SPOOL_PAUSE_POINT("event_count: about to park");
            parking_.park(epoch_, k, until);  // W4
        }
        SPOOL_PAUSE_POINT("event_count: woken");
        waiters_.fetch_sub(1);  // W5
        return epoch_.load() != k;
    }

    void notify_one() noexcept {
        if (waiters_.load() != 0) {  // N2
            SPOOL_PAUSE_POINT("event_count: found a waiter");
            epoch_.fetch_add(1);  // N3
            parking_.unpark_one(epoch_);
        }
    }
    /// Like notify_one(), but wakes no waiter while a waiter that an earlier call woke is still on
    /// its way, or while a waiter spins. It stops relying on a waiter that does not come (see
    /// above). A waiter that has found something must call it if there is more.
    void notify_unless_wake_pending() noexcept {
        if (waiters_.load() != 0) {  // N2, throttled
            wake_unless_pending();
        }
    }
    /// With pair (B), call it between the light barrier and notify_unless_wake_pending().
    void publish_before_notify() noexcept {
        if (waiters_.load() != 0) {
            wake_pending_.fetch_add(0);  // T0
        }
    }
    void notify_all() noexcept {
        if (waiters_.load() != 0) {  // N2
            wake_all();
        }
    }
    /// notify_all() in two parts. Does N3 now. The returned object does N4 in its destructor, and
    /// may outlive the event_count. Use it under a mutex that the woken waiters need: destroy the
    /// object after the unlock.
    using late_wake = typename Parking::late_wake;
    [[nodiscard]] late_wake notify_all_later() noexcept {
        if (waiters_.load() == 0) {  // N2
            return {};
        }
        SPOOL_PAUSE_POINT("event_count: about to wake all, later");
        epoch_.fetch_add(1);  // N3
        return parking_.unpark_all_later(epoch_);
    }

    /// Waits until ready() is true, give_up() is true, stop is requested, or the deadline passes.
    /// If several hold at once, the result is the first of them in this order. After any wake-up
    /// the wait calls ready() once more. It calls ready() and give_up() with no lock held, as often
    /// as needed; ready() may take what it finds. If ready() or give_up() throws, the wait ends
    /// with that exception.
    /// The wait calls `before_recheck` between the phases, before the check that decides.
    /// `before_recheck` must not throw.
    template <class Ready, class GiveUp, class BeforeRecheck>
    [[nodiscard]] wait_result await(Ready&& ready, const wait_limits& limits, GiveUp&& give_up,
                                    BeforeRecheck&& before_recheck) {
        if (ready()) {
            return wait_result::ready;
        }
        if (limits.spin > std::chrono::nanoseconds::zero() && spin(ready, limits, give_up)) {
            return wait_result::ready;
        }
        const std::stop_callback on_stop{limits.stop, wake_on_stop{this}};
        registration self{*this};
        for (;;) {
            self.prepare();
            before_recheck();
            if (ready()) {  // W3
                return self.leave(wait_result::ready);
            }
            if (give_up()) {
                return self.leave(wait_result::gave_up);
            }
            if (limits.stop.stop_requested()) {
                return self.leave(wait_result::interrupted);
            }
            if (limits.until.expired()) {
                return self.leave(wait_result::timed_out);
            }
            self.sleep(limits.until);
        }
    }
    template <class Ready, class GiveUp>
    [[nodiscard]] wait_result await(Ready&& ready, const wait_limits& limits, GiveUp&& give_up) {
        return await(std::forward<Ready>(ready), limits, std::forward<GiveUp>(give_up), [] {});
    }
    template <class Ready>
    [[nodiscard]] wait_result await(Ready&& ready, const wait_limits& limits = {}) {
        return await(std::forward<Ready>(ready), limits, [] { return false; });
    }

    /// How many threads are between prepare_wait() and the end of their wait. A statistic.
    [[nodiscard]] std::uint32_t waiters() const noexcept { return waiters_.load(); }

private:
    // Polls ready(); returns true if a poll succeeded. Only one waiter spins at a time. Throttled
    // notifiers rely on that waiter while it seems to have a CPU. The end of the spin is a W2', so
    // the check that follows sees all that was published before. After a vain spin, W3 makes that
    // check. After a hit, the caller's check for more makes it (see notify_unless_wake_pending()).
    template <class Ready, class GiveUp>
    bool spin(Ready& ready, const wait_limits& limits, GiveUp& give_up) {
        std::uint32_t seen = wake_pending_.load();
        if (seen != none || !wake_pending_.compare_exchange_strong(seen, spinning)) {  // S1
            return false;
        }
        const end_of_spin on_exit{*this};
        for (typename Parking::spin_loop loop{limits.spin}; loop.next();) {
            if (ready()) {
                return true;
            }
            if (give_up() || limits.stop.stop_requested() || limits.until.expired()) {
                break;
            }
        }
        return false;
    }
    struct end_of_spin {
        basic_event_count& events;
        const int exceptions = std::uncaught_exceptions();
        explicit end_of_spin(basic_event_count& e) noexcept : events(e) {}
        end_of_spin(const end_of_spin&) = delete;
        end_of_spin& operator=(const end_of_spin&) = delete;
        ~end_of_spin() {
            SPOOL_PAUSE_POINT("event_count: about to end spinning");
            events.wake_pending_.exchange(none);  // S2, W2'
            // A predicate threw, so this waiter checks no more: it wakes another waiter instead.
            if (std::uncaught_exceptions() != exceptions) {
                // pair: that of those notifiers; they published before they relied on this waiter
                events.notify_one();
            }
        }
    };

    [[gnu::noinline]] void wake_unless_pending() noexcept {
        std::uint32_t seen = wake_pending_.load();  // T1, throttled
        if (may_rely_on(seen)) {
            return;
        }
        const bool spins = seen == spinning;
        const std::uint32_t next = spins ? pack(Parking::spin_timestamp::now(), relied_on)
                                         : pack(Parking::wake_timestamp::now(), woken);
        if (!wake_pending_.compare_exchange_strong(seen, next) || spins) {  // T2, throttled
            return;
        }
        SPOOL_PAUSE_POINT("event_count: about to wake one");
        epoch_.fetch_add(1);  // N3
        parking_.unpark_one(epoch_);
    }

    // Whether a notifier may rely on a waiter that is on its way.
    static bool may_rely_on(std::uint32_t pending) noexcept {
        const std::uint32_t timestamp = pending & ~kind_bits;
        switch (pending & kind_bits) {
            case woken: return !Parking::wake_timestamp::is_long_ago(timestamp);
            case relied_on: return !Parking::spin_timestamp::is_long_ago(timestamp);
            default: return false;
        }
    }
    static std::uint32_t pack(std::uint32_t timestamp, std::uint32_t kind) noexcept {
        return (timestamp & ~kind_bits) | kind;
    }

    void wake_all() noexcept {
        SPOOL_PAUSE_POINT("event_count: about to wake all");
        epoch_.fetch_add(1);  // N3
        parking_.unpark_all(epoch_);
    }

    // Wakes the waiter when its stop is requested. It skips N2: the stop flag is no seq_cst word,
    // so the handshake must use epoch_ alone. The callback's destructor waits for a call in
    // progress, so the event_count is alive.
    struct wake_on_stop {
        basic_event_count* events;
        void operator()() const noexcept { events->wake_all(); }
    };

    // One waiter. However the waiter leaves, this class decrements waiters_ and passes an unused
    // wake-up on.
    class registration {
    public:
        explicit registration(basic_event_count& events) noexcept : events_(events) {}
        registration(const registration&) = delete;
        registration& operator=(const registration&) = delete;
        ~registration() {
            if (prepared_) {  // an exception from the check
                leave(wait_result::gave_up);
            }
        }
        void prepare() noexcept {
            key_ = events_.prepare_wait();
            prepared_ = true;
        }
        void sleep(deadline until) noexcept {
            prepared_ = false;
            woken_ = events_.wait(key_, until) || woken_;
        }
        wait_result leave(wait_result how) noexcept {
            prepared_ = false;
            woken_ = woken_ || events_.epoch_.load() != key_;  // a notify may rely on this waiter
            events_.cancel_wait();
            SPOOL_PAUSE_POINT("event_count: about to pass a wake on");
            if (woken_ && how != wait_result::ready) {
                // pair: the notifier published its condition before it woke this waiter
                events_.notify_one();
            }
            return how;
        }

    private:
        basic_event_count& events_;
        key key_ = 0;
        bool prepared_ = false;
        bool woken_ = false;
    };

    // The kinds of wake_pending_.
    static constexpr std::uint32_t none = 0;
    static constexpr std::uint32_t woken = 1;
    static constexpr std::uint32_t spinning = 2;
    static constexpr std::uint32_t relied_on = 3;
    static constexpr std::uint32_t kind_bits = 3;

    typename Parking::word epoch_{0};            // written by notifiers; publishes N1
    typename Parking::word waiters_{0};          // written by waiters; publishes nothing
    typename Parking::word wake_pending_{none};  // publishes N1 with pair (B): T0
    [[no_unique_address]] Parking parking_;
};

using event_count = basic_event_count<default_parking>;

}  // namespace spool::inline v1
