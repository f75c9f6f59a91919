// segment_store: where drained segments go, and where new ones come from.
//
// The consumer of a segment's last slot retires the segment: it pushes the segment onto a list. A
// thread that takes this list (with one exchange, so it owns the list) turns drained segments into
// spares (see segment) and puts the rest back. Spares are reused, so a queue in steady use
// allocates nothing: fresh memory from the system costs several times as much as an element.
//
// While the queue is busy, the store keeps a limited number of spares. Once the queue has been
// empty for a while, the store keeps one. So a drained queue has two segments: one for both ends,
// and a spare.
//
// Adding or taking an element tries the mutex only at the end of a segment, and never waits for it:
// a thread that does not get the mutex goes on without it.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <utility>

#include "spool/detail/mutex.hpp"

namespace spool::inline v1::detail {

template <class Segment>
class segment_store {
    using mutex = typename Segment::atomics::mutex;
    using lock_guard = typename Segment::atomics::lock_guard;
    template <class U>
    using atomic = typename Segment::atomics::template atomic<U>;

public:
    /// How long a queue must have been empty before it frees its spares.
    static constexpr std::chrono::milliseconds idle_before_trim{50};
    /// About 12 MB. For small elements, enough for what one thread adds while the other waits for a
    /// CPU.
    static constexpr std::size_t max_spares =
        std::clamp<std::size_t>(std::size_t{12} * 1024 * 1024 / sizeof(Segment), 1, 190);

    segment_store() = default;
    segment_store(const segment_store&) = delete;
    segment_store& operator=(const segment_store&) = delete;
    ~segment_store() {
        free_all(retired_.load());
        free_all(spares_);
    }

    /// Returns a reset spare, or a new segment. \throws std::bad_alloc
    [[nodiscard]] Segment* get() {
        // relaxed, hint: 0 restarts the idle timer at the next empty poll
        empty_since_.store(0, std::memory_order_relaxed);
        Segment* s = try_pop_spare();
        if (s == nullptr) {
            reclaim_retired();
            s = try_pop_spare();
        }
        if (s == nullptr) {
            return Segment::make();
        }
        s->reset();
        return s;
    }
    /// Takes a segment that get() returned, or that is out of use and held by no thread.
    void put(Segment* s) noexcept {
        if (!mutex_.try_lock()) {
            Segment::free(s);
            return;
        }
        const lock_guard lock{mutex_, std::adopt_lock};
        add_spare(s);
    }

    void retire(Segment* s) noexcept {
        s->next_idle = retired_.load();
        while (!retired_.compare_exchange_weak(s->next_idle, s)) {}
    }
    /// Turns retired segments that no thread holds any more into spares.
    void reclaim_retired() noexcept {
        // relaxed, hint: a later call finds a segment that this one misses
        if (retired_.load(std::memory_order_relaxed) == nullptr) {
            return;
        }
        if (!mutex_.try_lock()) {
            return;
        }
        const lock_guard lock{mutex_, std::adopt_lock};
        for (Segment* s = retired_.exchange(nullptr); s != nullptr;) {
            Segment* const one = std::exchange(s, s->next_idle);
            if (one->is_drained()) {
                add_spare(one);
            } else {
                retire(one);
            }
        }
    }

    /// Called by a consumer that finds the queue empty. After idle_before_trim of that, keeps only
    /// one spare.
    void on_empty_poll() noexcept {
        reclaim_retired();
        if (!has_surplus()) {
            return;
        }
        const auto now = Segment::atomics::now().time_since_epoch().count();
        // relaxed, hint
        std::chrono::steady_clock::rep since = empty_since_.load(std::memory_order_relaxed);
        if (since == 0) {
            empty_since_.store(now, std::memory_order_relaxed);  // relaxed, hint: last writer wins
        } else if (std::chrono::steady_clock::duration{now - since} >= idle_before_trim) {
            trim();
        }
    }
    /// Frees all spares but one.
    void trim() noexcept {
        reclaim_retired();
        Segment* surplus = nullptr;
        {
            const lock_guard lock{mutex_};
            if (spares_ != nullptr) {
                surplus = std::exchange(spares_->next_idle, nullptr);
                spare_count_.store(1);
            }
        }
        free_all(surplus);
    }
    /// Whether a later on_empty_poll() may find memory to free.
    [[nodiscard]] bool has_surplus() const noexcept {
        return spare_count_.load(std::memory_order_relaxed) > 1 ||   // relaxed, hint: re-checked
               retired_.load(std::memory_order_relaxed) != nullptr;  // relaxed, hint: re-checked
    }
    /// For tests: how many segments are out of use.
    [[nodiscard]] std::size_t idle_count() noexcept {
        const lock_guard lock{mutex_};
        std::size_t count = spare_count_.load();
        for (const Segment* s = retired_.load(); s != nullptr; s = s->next_idle) {
            ++count;
        }
        return count;
    }

private:
    static void free_all(Segment* s) noexcept {
        while (s != nullptr) {
            Segment::free(std::exchange(s, s->next_idle));
        }
    }
    void add_spare(Segment* s) noexcept SPOOL_REQUIRES(mutex_) {
        if (spare_count_.load() == max_spares) {
            Segment::free(s);
            return;
        }
        s->next_idle = std::exchange(spares_, s);
        spare_count_.fetch_add(1);
    }
    [[nodiscard]] Segment* try_pop_spare() noexcept {
        if (!mutex_.try_lock()) {
            return nullptr;
        }
        const lock_guard lock{mutex_, std::adopt_lock};
        if (spares_ == nullptr) {
            return nullptr;
        }
        spare_count_.fetch_sub(1);
        return std::exchange(spares_, spares_->next_idle);
    }
    atomic<Segment*> retired_{nullptr};                      // a list; publishes its segments
    atomic<std::chrono::steady_clock::rep> empty_since_{0};  // 0: unknown; publishes nothing
    atomic<std::size_t> spare_count_{0};                     // under mutex_; publishes nothing
    mutex mutex_;
    Segment* spares_ SPOOL_GUARDED_BY(mutex_) = nullptr;  // a list
};

}  // namespace spool::inline v1::detail
