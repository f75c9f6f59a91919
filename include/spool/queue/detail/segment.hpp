// segment: a run of slots, one link of a lock-free FIFO.
//
// WHO MAY STILL HOLD A DRAINED SEGMENT
//
// Only who has claimed one of its slots touches a segment: the producer of a slot until it has published the slot, the
// consumer of a slot until it has left it. A consumer leaves only after it has seen its slot published. So when all slots of the
// segment have been left, nobody holds it. That is written in the slots themselves, which their consumers have at hand anyway: a
// count of their own would cost each one more atomic operation. Who looks, looks at each slot once.
// Where it goes then: see segment_store.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "spool/queue/detail/pages.hpp"
#include "spool/queue/detail/slot.hpp"
#include "spool/sync/atomics.hpp"

namespace spool::inline v1::detail {

/// Segments of about 64 kB; not too few slots, however large the elements.
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
            in_pages ? allocate_pages(sizeof(segment)) : operator new(sizeof(segment), alignment);
        return ::new (at) segment;
    }
    static void free(segment* s) noexcept {
        s->~segment();
        if constexpr (in_pages) {
            free_pages(s, sizeof(segment));
        } else {
            operator delete(s, sizeof(segment), alignment);
        }
    }

    [[nodiscard]] slot_type& operator[](std::size_t i) noexcept { return slots_[i]; }

    void link(segment* s) noexcept {
        next_.store(s, std::memory_order_release);  // release (N): hands the new segment to next()
    }
    /// There is one, or the producer who claimed the last slot is about to link it.
    [[nodiscard]] segment* next() const noexcept {
        typename Atomics::backoff pause;
        for (;;) {
            // acquire (N): with link(), the segment's own state
            if (segment* const s = next_.load(std::memory_order_acquire)) {
                return s;
            }
            pause();
        }
    }

    /// By the consumer who claimed the last slot, before it passes the segment on: the turn of the first slot.
    void retire(std::uint64_t first_turn) noexcept { first_turn_ = first_turn; }
    /// By who is alone with the list that it is in, after retire(): whether nobody holds it any more.
    [[nodiscard]] bool drained() noexcept {
        while (left_ != Slots && slots_[left_].was_left(first_turn_ + left_)) {
            ++left_;
        }
        return left_ == Slots;
    }
    /// By who is alone with it: as new, but for the turns in its slots, which never come again.
    void renew() noexcept {
        next_.store(nullptr, std::memory_order_relaxed);  // relaxed, owner
        left_ = 0;
    }

    segment* next_idle = nullptr;  // of the lists of segment_store; written by who is alone with this

private:
    segment() = default;
    ~segment() = default;

    static constexpr bool in_pages =
        Slots * sizeof(slot_type) >= std::size_t{16} * 1024 && alignof(slot_type) <= page;
    static constexpr std::align_val_t alignment{alignof(slot_type)};

    typename Atomics::template atomic<segment*> next_{nullptr};  // written by the producer of the last slot
    std::uint64_t first_turn_ = 0;                               // see retire()
    std::size_t left_ = 0;  // so many slots, from the first on, are known to have been left
    slot_type slots_[Slots];
};

}  // namespace spool::inline v1::detail
