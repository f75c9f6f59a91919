// stealing_deque: one consumer's store of a work_stealing_queue (Chase and Lev's deque). The owner
// pushes and pops at the bottom, thieves steal at the top. A freezer may stop the deque to visit
// its elements or to remove some from the middle.
//
// THE PROTOCOL
//
// Slot i of a ring (modulo its size) points to the node of element i; elements top <= i < bottom
// are in the deque. Numbers only grow, except bottom, which a pop lowers, and far.
//
//     word     written by                         meaning
//     bottom_  the owner                          number of the next element
//     top_     takers of the oldest, by compare-  number of the oldest element, and whether the
//              exchange; the freezer              deque is frozen
//     far_     the owner                          no pop goes below: thieves need no barrier there
//     ring_    the owner, under freeze_mutex_     the slots
//     owned_   attach sets it, detach clears it   whether a thread owns the deque
//
//     owner pushes         owner pops                       thief steals
//     B1  slot[b] = node   P0  b - 1 < far_: far_ falls     T1  t = top_; t < far_: go to T4
//     B2  bottom_ = b + 1  P1  bottom_ = b - 1              T2  t >= bottom_: empty
//     B3  far_ may rise    light barrier                    heavy barrier
//                          P2  t = top_                     T3  t >= bottom_: empty
//                          P3  t < b - 1: take slot[b-1]    T4  frozen: wait, retry; n = slot[t]
//                          P4  t = b - 1, the last one:     T5  top_ t -> t + 1, or retry
//                              top_ t -> t + 1, or a thief has it; bottom_ = b
//                          P5  frozen: bottom_ = b, wait, retry
//
//     freezer, under freeze_mutex_
//     F1  top_ is frozen; heavy barrier
//     F2  b = bottom_               the freezer may read and move [t, b); the owner may push at b
//     F3  survivors moved up to b   if the freezer removes elements
//     F4  top_ = t + taken, thawed
//
// The owner, on the hot path, pays for no fence: between P1 and P2 stands the light half of a
// barrier (barrier.hpp) whose heavy half stands between T1 and T3, and between F1 and F2. Thieves
// pay for it only near the bottom. Accesses to top_ and far_ are seq_cst, so that they have one
// order, except B3 and the owner's own loads of far_.
//
// I1  No thread takes an element that another took or froze. Every take but P3 moves top_ by
//     compare-exchange. P3 takes element b - 1 because P2 saw top_ below b - 1 and not frozen. A
//     thief that gets to t = b - 1 by T3, or a freezer, accesses top_ (T1, F1) before its heavy
//     barrier. If P2 came before that access, so did P1, and T3 or F2 reads bottom_ = b - 1 and
//     misses the element (or finds a later push in its place). Else P2 sees t = b - 1, or frozen.
//     A thief that skips T3 read top_ = b - 1, then far_ > b - 1: before P0 in the one order (or
//     after a later rise, where the same holds). P2 follows P0, sees top_ >= b - 1, and P3 fails.
//     B3 may come before B2 (`exposes`): a thief may then take element b before bottom_ says so.
// I2  Only the thread that took or froze a node reads it. T4 may read a stale slot, but slot t
//     is rewritten after top_ passed t (B1 a lap later; P4, B1) or before (F3, F4), so T5 fails.
// I3  A check after a heavy barrier sees every push that has returned, if it is still there. From
//     P1 to P5 an element is hidden, but its owner is awake and rests only after a thread took it.
//
// What makes each hand-over visible:
// (D) B2 -> T3, F2, and B3 -> T1: the slot, the node, the element. (P1, P4 and P5 release, too.)
// (F) F4 -> T1, P2: what the freezer read and moved. Later compare-exchanges of top_ pass it on.
// (G) the store of ring_ in grow() -> its load before T4: the slots. Thieves may still read an old
//     ring, whose slots from top on do not change; so old rings live on. The owner of an empty
//     deque may null all slots (trim()): a thief that read one at T4 fails at T5.
// (O) owned_ in release() -> try_acquire(): everything that only the owner touches.
// (B) B2 is N1 of event_count: a consumer about to sleep checks by T1, T2; work_stealing_queue.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "spool/base/function_ref.hpp"
#include "spool/detail/atomics.hpp"
#include "spool/detail/cache_line.hpp"
#include "spool/detail/mutex.hpp"
#include "spool/detail/pause_point.hpp"
#include "spool/queue/detail/attachment.hpp"
#include "spool/queue/detail/source_rotation.hpp"
#include "spool/queue/detail/stealing_nodes.hpp"
#include "spool/queue/detail/stealing_ring.hpp"

namespace spool::inline v1::detail {

/// The models use a smaller MinRing and Near.
template <class T, class Atomics = std_atomics, std::size_t MinRing = 256, std::uint64_t Near = 8>
class stealing_deque final : public attachment {
    using mutex = typename Atomics::mutex;
    using lock_guard = typename Atomics::lock_guard;
    template <class U>
    using atomic = typename Atomics::template atomic<U>;

public:
    using node = stealing_node<T>;

    /// The calling thread owns it. All deques of a queue share the queue's `freeze_mutex`.
    explicit stealing_deque(mutex& freeze_mutex)
        : freeze_mutex_(freeze_mutex), newest_ring_(std::make_unique<ring>(min_ring)) {
        ring_.store(newest_ring_.get());
    }
    ~stealing_deque() {  // no other thread uses the deque any more
        while (node* const n = try_steal()) {
            std::destroy_at(&n->value);
            delete n;
        }
    }
    stealing_deque(const stealing_deque&) = delete;
    stealing_deque& operator=(const stealing_deque&) = delete;

    /// The next deque in the queue's list. Constant once the deque is in the list.
    stealing_deque* next = nullptr;

    // ---- The owner

    /// \throws std::bad_alloc, then `x` and the deque are unchanged
    void push(T& x) {
        if (seems_full()) [[unlikely]] {
            make_room();
        }
        push_back(nodes_.make(x));
    }
    /// Fast path of push(), which calls nothing. False: nothing was done; use push().
    [[nodiscard]] bool try_push_fast(T& x) noexcept {
        if (!can_move_without_calls(x) || seems_full() || !nodes_.has_spare()) [[unlikely]] {
            return false;
        }
        push_back(nodes_.make_from_spare(x));
        return true;
    }

    enum class pop_state : bool { done, contended };
    struct attempt {
        node* taken = nullptr;
        pop_state state = pop_state::done;
    };
    /// Returns the newest element's node, or null; the caller recycles it. Contended: not finished.
    [[nodiscard]] node* try_pop() noexcept {
        const attempt first = try_pop_fast();
        return first.state == pop_state::contended ? try_pop_slow() : first.taken;
    }
    /// The fast path of try_pop(), which calls nothing, and its slow path, try_pop_slow().
    [[nodiscard]] attempt try_pop_fast() noexcept {
        const std::uint64_t b = bottom_.load(std::memory_order_relaxed);  // relaxed, owner
        if (top_.load().oldest() >= b) {
            return {};
        }
        if (b - 1 < far_.load(std::memory_order_relaxed)) [[unlikely]] {  // relaxed, owner
            far_.store(b - std::min<std::uint64_t>(b, near));             // P0
        }
        bottom_.store(b - 1, std::memory_order_release);  // P1, release: keeps (D)
        Atomics::light_barrier();
        SPOOL_PAUSE_POINT("stealing_deque: popping");
        const stealing_top t = top_.load();  // P2 (F)
        if (!t.is_frozen() && t.oldest() < b - 1) [[likely]] {
            return {.taken = own_slot(b - 1)};  // P3
        }
        return {.state = pop_state::contended};
    }
    [[nodiscard, gnu::noinline]] node* try_pop_slow() noexcept {
        for (;;) {
            if (const std::optional<node*> n = try_finish_pop()) {
                return *n;
            }
            if (const attempt again = try_pop_fast(); again.state == pop_state::done) {
                return again.taken;
            }
        }
    }
    void recycle(node* n) noexcept { nodes_.recycle(n); }
    /// Whether push_back() may be called.
    [[nodiscard]] bool has_room() noexcept {
        oldest_seen_ = top_.load().oldest();
        return !seems_full();
    }
    /// Adds a node that try_pop() returned, or one stolen elsewhere. Precondition: there is room.
    void push_back(node* n) noexcept {
        const std::uint64_t b = bottom_.load(std::memory_order_relaxed);  // relaxed, owner
        // B1, relaxed, owner: B2 publishes it (D)
        ring_.load(std::memory_order_relaxed)->at(b).store(n, std::memory_order_relaxed);
        SPOOL_PAUSE_POINT("stealing_deque: about to publish");
        publish(b + 1);
    }

    /// Whether trim() is worthwhile: the ring has become large, and there are spare nodes.
    [[nodiscard]] bool has_surplus() const noexcept {
        return newest_ring_->is_in_pages() && nodes_.has_surplus();
    }
    /// Frees the spare nodes and, if the deque is empty, the memory of the slots (G).
    void trim() noexcept {
        nodes_.trim();
        const std::uint64_t oldest = top_.load().oldest();        // E1
        if (oldest >= bottom_.load(std::memory_order_relaxed)) {  // relaxed, owner
            newest_ring_->discard();
        }
    }

    [[nodiscard]] pop_source next_source() noexcept { return rotation_.next(); }

    /// Where the owner starts its next steal; null: anywhere.
    stealing_deque* victim = nullptr;
    /// The owner pushes for thieves, who need no barrier then; it pays at P0 if it pops one itself.
    bool exposes = false;
    /// The owner is in a wait, and has counted itself out of the queue's awake_consumers.
    bool is_resting = false;

    // ---- Any thread

    enum class taker { owner, thief };
    /// Returns the oldest element's node, or null. The caller returns it by return_from_thief().
    [[nodiscard]] node* try_steal(taker by = taker::thief) noexcept {
        for (;;) {
            stealing_top t = top_.load();  // T1 (F)
            SPOOL_PAUSE_POINT("stealing_deque: stealing");
            if (t.oldest() >= far_.load() &&                                               // T1 (D)
                (is_past_bottom(t) || (by == taker::thief && is_still_past_bottom(t)))) {  // T2, T3
                return nullptr;
            }
            if (t.is_frozen()) {
                wait_for_thaw();  // T4
                continue;
            }
            const ring* const slots = ring_.load(std::memory_order_acquire);        // acquire: (G)
            node* const n = slots->at(t.oldest()).load(std::memory_order_relaxed);  // T4: (D), (F)
            SPOOL_PAUSE_POINT("stealing_deque: about to steal");
            if (top_.compare_exchange_strong(t, stealing_top::at(t.oldest() + 1))) {  // T5
                return n;
            }
        }
    }
    void return_from_thief(node* n) noexcept { nodes_.return_from_thief(n); }

    /// How many elements the deque had at one moment of the call.
    [[nodiscard]] std::size_t size() const noexcept {
        for (stealing_top t = top_.load();;) {
            const std::uint64_t b = bottom_.load();
            const stealing_top again = top_.load();
            if (t.oldest() == again.oldest()) {  // top_ did not change around the load of bottom_
                return b > t.oldest() ? static_cast<std::size_t>(b - t.oldest()) : 0;
            }
            t = again;
        }
    }

    /// Makes the calling thread the owner, unless there is one.
    [[nodiscard]] bool try_acquire() noexcept {
        bool is_owned = owned_.load(std::memory_order_relaxed);              // relaxed, hint
        return !is_owned && owned_.compare_exchange_strong(is_owned, true);  // (O)
    }
    void release() noexcept { owned_.store(false); }  // (O)

    // ---- The freezer, under the freeze mutex

    void freeze() noexcept {
        stealing_top t = top_.load();
        while (!top_.compare_exchange_weak(t, t.frozen())) {  // F1
        }
        Atomics::heavy_barrier();
        frozen_first_ = t.oldest();
        SPOOL_PAUSE_POINT("stealing_deque: half frozen");
        frozen_last_ = bottom_.load();  // F2 (D)
    }
    void thaw() noexcept { top_.store(stealing_top::at(frozen_first_)); }  // F4 (F)

    /// Calls `visitor` on each frozen element, oldest first, until it returns false. False: it did.
    bool visit(function_ref<bool(const T&)> visitor) const {
        for (std::uint64_t i = frozen_first_; i < frozen_last_; ++i) {
            // relaxed: frozen
            if (!visitor(frozen_slot(i).load(std::memory_order_relaxed)->value)) {
                return false;
            }
        }
        return true;
    }
    /// Marks the nodes of wanted elements (they point at themselves). Returns how many. Moves none.
    std::size_t mark_wanted(function_ref<bool(const T&)> wanted) {
        std::size_t count = 0;
        for (std::uint64_t i = frozen_first_; i < frozen_last_; ++i) {
            node* const n = frozen_slot(i).load(std::memory_order_relaxed);  // relaxed: frozen
            n->next = wanted(n->value) ? n : nullptr;
            count += n->next != nullptr ? 1 : 0;
        }
        return count;
    }
    /// Moves the marked nodes to a list, oldest first, and returns the new end of the list.
    node** unlink_marked(node** end) noexcept {
        node* oldest = nullptr;
        node* newest = nullptr;
        std::uint64_t kept = frozen_last_;
        for (std::uint64_t i = frozen_last_; i > frozen_first_; --i) {
            node* const n = frozen_slot(i - 1).load(std::memory_order_relaxed);  // relaxed: frozen
            if (n->next == nullptr) {
                frozen_slot(--kept).store(n, std::memory_order_relaxed);  // F3, relaxed: (F)
                continue;
            }
            n->next = std::exchange(oldest, n);
            newest = newest == nullptr ? n : newest;
        }
        if (oldest == nullptr) {
            return end;
        }
        frozen_first_ = kept;
        *end = oldest;
        return &newest->next;
    }

private:
    using ring = stealing_ring<node, Atomics>;
    static constexpr std::size_t min_ring = MinRing;
    static constexpr std::uint64_t near = Near;  // near to 2 * near elements lie above far_

    // Finishes a contended pop by P4 or P5, whichever top_ now asks for. None: frozen, retry.
    std::optional<node*> try_finish_pop() noexcept {
        const std::uint64_t b = bottom_.load(std::memory_order_relaxed) + 1;  // owner; b before P1
        stealing_top t = top_.load();                                         // P2 again (F)
        if (!t.is_frozen() && t.oldest() < b - 1) {
            return own_slot(b - 1);  // P3: the deque has been thawed
        }
        SPOOL_PAUSE_POINT("stealing_deque: the last one");
        // P4
        const bool mine =
            t == stealing_top::at(b - 1) && top_.compare_exchange_strong(t, stealing_top::at(b));
        if (t.is_frozen()) {
            SPOOL_PAUSE_POINT("stealing_deque: about to take back a pop");
            bottom_.store(b, std::memory_order_release);  // P5, release: keeps (D)
            wait_for_thaw();
            return std::nullopt;
        }
        // P4, release: keeps (D). That is enough: a reader of b - 1 or of b finds the deque empty.
        bottom_.store(b, std::memory_order_release);
        return mine ? own_slot(b - 1) : nullptr;
    }

    // B2 and B3. `b` is the new bottom.
    void publish(std::uint64_t b) noexcept {
        if (exposes) [[unlikely]] {
            far_.store(b, std::memory_order_release);  // B3, release (D): thieves need not see B2
        }
        // B2, release (D): to T3 and F2; (B) with the light barrier
        bottom_.store(b, std::memory_order_release);  // B2
        Atomics::light_barrier();
        if (b - far_.load(std::memory_order_relaxed) >= 2 * near) [[unlikely]] {  // relaxed, owner
            far_.store(b - near, std::memory_order_release);  // B3, release (D): T1 may miss it
        }
    }
    // Whether the deque has no element number t.
    [[nodiscard]] bool is_past_bottom(stealing_top t) const noexcept { return t.oldest() >= bottom_.load(); }
    [[nodiscard]] bool is_still_past_bottom(stealing_top t) const noexcept {
        Atomics::heavy_barrier();
        return is_past_bottom(t);
    }

    [[nodiscard]] node* own_slot(std::uint64_t i) const noexcept {
        // relaxed, owner; P2 has acquired what F3 moved (F)
        return ring_.load(std::memory_order_relaxed)->at(i).load(std::memory_order_relaxed);
    }
    [[nodiscard]] atomic<node*>& frozen_slot(std::uint64_t i) const noexcept { return newest_ring_->at(i); }

    [[nodiscard]] bool seems_full() const noexcept {
        const std::uint64_t b = bottom_.load(std::memory_order_relaxed);           // relaxed, owner
        return b - oldest_seen_ >= ring_.load(std::memory_order_relaxed)->size();  // relaxed, owner
    }
    [[gnu::noinline]] void make_room() {
        if (!has_room()) {
            grow();
        }
    }
    void grow() {
        const std::uint64_t b = bottom_.load(std::memory_order_relaxed);  // relaxed, owner
        auto larger = std::make_unique<ring>(2 * newest_ring_->size());
        const lock_guard lock{freeze_mutex_};  // against F3
        for (std::uint64_t i = oldest_seen_; i < b; ++i) {
            larger->at(i).store(own_slot(i), std::memory_order_relaxed);  // relaxed: (G) below
        }
        larger->older = std::move(newest_ring_);
        newest_ring_ = std::move(larger);
        SPOOL_PAUSE_POINT("stealing_deque: about to grow");
        ring_.store(newest_ring_.get(), std::memory_order_release);  // release (G): see try_steal()
    }

    void wait_for_thaw() const noexcept { const lock_guard lock{freeze_mutex_}; }

    // The owner's cache line, which thieves read.
    alignas(cache_line) atomic<std::uint64_t> bottom_{0};  // (D), (B)
    atomic<std::uint64_t> far_{0};                         // (D)
    atomic<ring*> ring_{nullptr};                          // (G)
    std::uint64_t oldest_seen_ = 0;                        // owner only: a copy of top_, for push()
    source_rotation rotation_;                             // owner only
    stealing_nodes<T, Atomics> nodes_;

    // The thieves' cache line.
    alignas(cache_line) atomic<stealing_top> top_{stealing_top{}};  // (F)
    static_assert(atomic<stealing_top>::is_always_lock_free);

    // Rarely used.
    alignas(cache_line) atomic<bool> owned_{true};  // (O)
    mutex& freeze_mutex_;                           // guards all below
    std::unique_ptr<ring> newest_ring_;             // the owner writes it, and may read it unlocked
    std::uint64_t frozen_first_ = 0;
    std::uint64_t frozen_last_ = 0;
};

}  // namespace spool::inline v1::detail
