// segment: a run of slots, one link of a lock-free FIFO.
//
// WHO MAY STILL HOLD A DRAINED SEGMENT
//
// Only a thread that claimed one of its slots touches a segment: a producer until it has published
// its slot, a consumer until it has released its slot. A consumer releases its slot only after it
// saw the slot published. So once all slots of a segment have been released, no thread holds the
// segment. The slots themselves record this, since a consumer writes to its slot anyway: a separate
// counter would cost each consumer one more atomic operation. The check reads each slot once.
// segment_store describes where a drained segment goes.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "spool/detail/atomics.hpp"
#include "spool/queue/detail/pages.hpp"
#include "spool/queue/detail/slot.hpp"

namespace spool::inline v1::detail {

/// Segments have about 64 kB, but never too few slots, however large the elements are.
template <class T>
inline constexpr std::size_t slots_per_segment =
    std::clamp<std::size_t>(std::size_t{64} * 1024 / sizeof(slot<T>), 16, 1024) - 1;

template <class T, std::size_t Slots, class Atomics = std_atomics>
class segment {
public:
    using atomics = Atomics;
    using slot_type = slot<T, Atomics>;
    static_assert(Slots >= 2);

    /// \throws std::bad_alloc
    [[nodiscard]] static segment* make() {
        void* const at =
            is_in_pages ? allocate_pages(sizeof(segment)) : operator new(sizeof(segment), alignment);
        return ::new (at) segment;
    }
    static void free(segment* s) noexcept {
        s->~segment();
        if constexpr (is_in_pages) {
            free_pages(s, sizeof(segment));
        } else {
            operator delete(s, sizeof(segment), alignment);
        }
    }

    [[nodiscard]] slot_type& operator[](std::size_t i) noexcept { return slots_[i]; }

    void link(segment* s) noexcept {
        next_.store(s, std::memory_order_release);  // release (N): publishes the segment to next()
    }
    /// Waits for the next segment. Precondition: it is linked, or the producer that claimed the
    /// last slot is about to link it.
    [[nodiscard]] segment* next() const noexcept {
        typename Atomics::backoff pause;
        for (;;) {
            // acquire (N): pairs with link(); the state of the next segment
            if (segment* const s = next_.load(std::memory_order_acquire)) {
                return s;
            }
            pause();
        }
    }

    /// Records the turn of the first slot. The thread that moves the head past the segment calls
    /// this before it passes the segment on.
    void retire(std::uint64_t first_turn) noexcept { first_turn_ = first_turn; }
    /// True: no thread holds the segment any more. The caller must have called retire() before, and
    /// must own the list that contains the segment.
    [[nodiscard]] bool is_drained() noexcept {
        while (released_ != Slots && slots_[released_].is_released(first_turn_ + released_)) {
            ++released_;
        }
        return released_ == Slots;
    }
    /// Resets everything but the slots' turns, which never occur again. The caller must have
    /// exclusive access.
    void reset() noexcept {
        next_.store(nullptr, std::memory_order_relaxed);  // relaxed, owner
        released_ = 0;
    }

    // Links the lists of segment_store. Written by the thread with exclusive access.
    segment* next_idle = nullptr;

private:
    segment() = default;
    ~segment() = default;

    static constexpr bool is_in_pages =
        Slots * sizeof(slot_type) >= std::size_t{16} * 1024 && alignof(slot_type) <= page_size;
    static constexpr std::align_val_t alignment{alignof(slot_type)};

    // Written by the producer of the last slot.
    typename Atomics::template atomic<segment*> next_{nullptr};
    std::uint64_t first_turn_ = 0;  // see retire()
    // How many slots, counted from the first, are known to have been released.
    std::size_t released_ = 0;
    slot_type slots_[Slots];
};

}  // namespace spool::inline v1::detail
