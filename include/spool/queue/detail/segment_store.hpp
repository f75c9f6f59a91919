// segment_store: where drained segments go, and new ones come from.
//
// The consumer of a segment's last slot retires it: puts it into a list. Whoever takes that list (with one exchange, so it is then
// alone with it) makes spares of what nobody holds any more (see segment) and puts back the rest. Spares are reused, so
// that a queue in steady use allocates nothing: memory fresh from the system costs several times what an element costs.
//
// A limited number of spares is kept while the queue is at work, and one when it has been empty for a while: so a drained
// queue has two segments, the one that both ends stand in and a spare.
//
// The mutex is taken once per segment at most, and never waited for on the way of an element: who does not get it goes
// without.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <utility>

#include "spool/base/mutex.hpp"

namespace spool::inline v1::detail {

template <class Segment>
class segment_store {
    using mutex = typename Segment::atomics::mutex;
    using lock_guard = typename Segment::atomics::lock_guard;
    template <class U>
    using atomic = typename Segment::atomics::template atomic<U>;

public:
    /// How long a queue must have been empty to give its spares back.
    static constexpr std::chrono::milliseconds patience{50};
    /// About 12 MB: of small elements enough for what one thread adds while the other waits for its CPU.
    static constexpr std::size_t most_spares =
        std::clamp<std::size_t>(std::size_t{12} * 1024 * 1024 / sizeof(Segment), 1, 190);

    segment_store() = default;
    segment_store(const segment_store&) = delete;
    segment_store& operator=(const segment_store&) = delete;
    ~segment_store() {
        free_all(retired_.load());
        free_all(spares_);
    }

    /// A fresh one, used or new. \throws std::bad_alloc
    [[nodiscard]] Segment* get() {
        // relaxed, hint: 0 makes the next who finds the queue empty begin to count anew
        empty_since_.store(0, std::memory_order_relaxed);
        Segment* s = pop_spare();
        if (s == nullptr) {
            sort_retired();
            s = pop_spare();
        }
        if (s == nullptr) {
            return Segment::make();
        }
        s->renew();
        return s;
    }
    /// Back from get(), or out of use with nobody holding it.
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
    /// Makes spares of what nobody holds any more.
    void sort_retired() noexcept {
        // relaxed, hint: one that is missed waits for the next time
        if (retired_.load(std::memory_order_relaxed) == nullptr) {
            return;
        }
        if (!mutex_.try_lock()) {
            return;
        }
        const lock_guard lock{mutex_, std::adopt_lock};
        for (Segment* s = retired_.exchange(nullptr); s != nullptr;) {
            Segment* const one = std::exchange(s, s->next_idle);
            if (one->drained()) {
                add_spare(one);
            } else {
                retire(one);
            }
        }
    }

    /// Called by who finds the queue empty: after a while of that only one spare is left.
    void idle() noexcept {
        sort_retired();
        if (!has_surplus()) {
            return;
        }
        const auto now = Segment::atomics::now().time_since_epoch().count();
        std::chrono::steady_clock::rep since = empty_since_.load(std::memory_order_relaxed);  // relaxed, hint
        if (since == 0) {
            empty_since_.store(now, std::memory_order_relaxed);  // relaxed, hint: who writes last counts anew
        } else if (std::chrono::steady_clock::duration{now - since} >= patience) {
            trim();
        }
    }
    /// Only one spare is left.
    void trim() noexcept {
        sort_retired();
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
    /// Whether idle() would have something to give back some time later.
    [[nodiscard]] bool has_surplus() const noexcept {
        return spare_count_.load(std::memory_order_relaxed) > 1 ||   // relaxed, hint: looked at again
               retired_.load(std::memory_order_relaxed) != nullptr;  // relaxed, hint: as above
    }
    /// For tests: segments out of use.
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
        if (spare_count_.load() == most_spares) {
            Segment::free(s);
            return;
        }
        s->next_idle = std::exchange(spares_, s);
        spare_count_.fetch_add(1);
    }
    [[nodiscard]] Segment* pop_spare() noexcept {
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
    atomic<Segment*> retired_{nullptr};                      // a list; hands over its segments
    atomic<std::chrono::steady_clock::rep> empty_since_{0};  // 0: not known; publishes nothing
    atomic<std::size_t> spare_count_{0};                     // written under the mutex; publishes nothing
    mutex mutex_;
    Segment* spares_ SPOOL_GUARDED_BY(mutex_) = nullptr;  // a list
};

}  // namespace spool::inline v1::detail
