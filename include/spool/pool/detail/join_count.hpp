// join_count: how a task_group knows that all its children have ended, and which child wakes the
// maker.
//
// THE COUNT
//
// The maker is the thread that made the group, and the only one that waits for it. Children that
// the maker forks, and children that end on its thread, are plain counts of its own. Every other
// thread counts in one word:
//
//     remote_ = 2 * (children forked elsewhere - children ended elsewhere) + sleeping   (mod 2^64)
//
// All children have ended if 2 * (begun_ - ended_here_) + remote_ is 0, but for the sleeping bit.
//
// THE SLEEP
//
//     maker                                    a child ends on another thread
//     M1  lock; set the sleeping bit; unlock   C1  not sleeping, or sleeping with more than one
//     M2  lock; move its own counts into           child left: compare-exchange from that value
//         remote_; all ended? unlock               to one child less, and done
//     M3  sleep until woken, then M2           C2  else lock; one child less; wake the maker;
//     M4  lock; clear the sleeping bit;            unlock
//         unlock
//
// After M2 the word alone counts all children, so C1 knows whether its child is the last. Only the
// last child wakes the maker. While the bit is set and the maker runs children itself, its own
// counts may differ from 0; then the word says nothing about the last child. This does no harm: the
// maker is awake, and it repeats M2 before it sleeps.
//
// No wake-up is lost. Let C2 of the last child come after the maker's last M2 (otherwise M2 sees
// that all have ended). C2's lock then comes after that M2, so C2 sees the waiter that the maker
// registered before M2 (pair (M) of event_count). If C1 ended the last child, its compare-exchange
// saw the bit clear, or the word without the maker's own counts. Either way an M2 follows C1.
//
// No thread touches the group after its last child. C1 ends with the compare-exchange. C2 ends
// inside the lock, and the maker returns only after it has seen, inside the lock or before M1, that
// all have ended.
#pragma once

#include <cstdint>
#include <memory>

#include "spool/detail/atomics.hpp"
#include "spool/detail/pause_point.hpp"
#include "spool/sync/event_count.hpp"

namespace spool::inline v1::detail {

/// Atomics: std_atomics. Events: an event_count.
template <class Atomics, class Events>
class basic_join_count {
    static constexpr std::uint64_t sleeping = 1;

    // Maker only: children that the maker forked, and children that ended on its thread.
    std::uint64_t begun_ = 0;
    std::uint64_t ended_here_ = 0;
    typename Atomics::template atomic<std::uint64_t> remote_{0};

public:
    // ---- On the maker's thread

    void add_here() noexcept { ++begun_; }
    void end_here() noexcept { ++ended_here_; }
    [[nodiscard]] bool all_ended() const noexcept {
        return 2 * (begun_ - ended_here_) + (remote_.load() & ~sleeping) == 0;
    }

    /// Between begin_sleep() and end_sleep() the last child that ends elsewhere wakes the maker.
    void begin_sleep() {
        const typename Atomics::lock_guard lock{guard};
        SPOOL_PAUSE_POINT("task_group: the maker is about to sleep");
        remote_.fetch_or(sleeping);  // M1
    }
    /// all_ended() for the maker's wait, which calls it before each sleep.
    [[nodiscard]] bool all_ended_in_sleep() {
        const typename Atomics::lock_guard lock{guard};
        const std::uint64_t own = begun_ - ended_here_;
        begun_ = ended_here_ = 0;
        return remote_.fetch_add(2 * own) + 2 * own == sleeping;  // M2
    }
    void end_sleep() {
        const typename Atomics::lock_guard lock{guard};
        remote_.fetch_and(~sleeping);  // M4
    }

    /// In a forked child process, on its only thread: all children are lost.
    void forget_all() noexcept {
        std::construct_at(&guard);  // a thread that does not exist here may have held the lock
        begun_ = ended_here_ = 0;
        remote_.store(0);
    }

    // ---- On other threads

    void add_elsewhere() noexcept { remote_.fetch_add(2); }
    /// The caller must not touch the group afterwards.
    void end_elsewhere() noexcept {
        std::uint64_t seen = remote_.load();
        while (seen != (2 | sleeping)) {
            SPOOL_PAUSE_POINT("task_group: a child has ended elsewhere");
            if (remote_.compare_exchange_weak(seen, seen - 2)) {  // C1
                return;
            }
        }
        end_and_wake();
    }
    /// The same, but always wakes a sleeping maker: its wait asks the give-up predicate again.
    void end_elsewhere_and_wake() noexcept {
        std::uint64_t seen = remote_.load();
        while ((seen & sleeping) == 0) {
            if (remote_.compare_exchange_weak(seen, seen - 2)) {  // C1
                return;
            }
        }
        end_and_wake();
    }

    /// The event that the maker sleeps on, with all_ended_in_sleep() as the condition.
    Events wakes;
    /// Guards every change of the sleeping bit, and the group's own fields.
    typename Atomics::mutex guard;

private:
    [[gnu::noinline]] void end_and_wake() noexcept {
        const typename Atomics::lock_guard lock{guard};
        SPOOL_PAUSE_POINT("task_group: about to wake the maker");
        remote_.fetch_sub(2);  // C2
        wakes.notify_all();    // pair (M): guard
    }
};

using join_count = basic_join_count<std_atomics, event_count>;

}  // namespace spool::inline v1::detail
