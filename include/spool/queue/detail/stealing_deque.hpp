// stealing_deque: one consumer's store of a work_stealing_queue. Its owner pushes and pops at the bottom, everybody else steals
// at the top (Chase and Lev's deque), and a third party may freeze it to look inside or to take elements out of the middle.
//
// THE PROTOCOL
//
// Elements have numbers; element i lies in slot i of a ring (modulo its size), as a pointer to a node. Those numbered
// top <= i < bottom are in the deque. All numbers only grow, but for bottom, which falls when the owner pops, and far.
//
//     word       who writes it                                    what it says
//     bottom_    the owner                                        where the next element goes
//     top_       whoever takes the oldest, by compare-exchange;   which is the oldest, and whether the deque is frozen
//                the freezer
//     far_       the owner                                        below it the owner does not pop: thieves need not mind it there
//     ring_      the owner, under freeze_mutex_                   where the slots are
//     owned_     attach: free -> owned; detach: owned -> free     whether a thread is the owner
//
//     owner pushes                     owner pops                        thief steals
//     B1  slot[b] = node               P0  b - 1 < far_: far_ falls      T1  t = top_; t < far_: go to T4
//     B2  bottom_ = b + 1              P1  bottom_ = b - 1               T2  t >= bottom_: empty
//     B3  far_ may rise                light barrier                     heavy barrier
//                                      P2  t = top_                      T3  t >= bottom_: empty
//                                      P3  t < b - 1: slot[b-1] is ours  T4  frozen: wait, again; node = slot[t]
//                                      P4  t = b - 1, the last one:      T5  top_ t -> t + 1, or again
//                                          top_ t -> t + 1, or a
//                                          thief has it; bottom_ = b
//                                      P5  frozen: bottom_ = b, wait, again
//
//     freezer, under freeze_mutex_
//     F1  top_ is frozen; heavy barrier
//     F2  b = bottom_                  now [t, b) are its own, to read and to move about; the owner may push on at b
//     F3  survivors moved up to b      if some are taken out
//     F4  top_ = t + taken, thawed
//
// The owner, who comes by with every element, pays for no fence: between P1 and P2 stands the light half of a barrier (barrier.hpp) whose
// heavy half stands between T1 and T3, and between F1 and F2. Thieves pay that only for what lies near to the bottom. Accesses to
// top_ and far_ are seq_cst, so that they have one order.
//
//   I1  Nobody takes an element that another took or has frozen. Whoever moves top_ does so by compare-exchange, so what is left
//       to settle is P3, where the owner takes element b - 1 without. P2 saw top_ below b - 1 and not frozen. A thief that gets as
//       far as t = b - 1 on the near way, or a freezer, changes or reads top_ (T1, F1) before its heavy barrier. If P2 came before
//       that, then so did P1, and T3 or F2 reads bottom_ = b - 1: it does not see the element. (Or what the owner has pushed in
//       its place since.) Else P2 would have seen it.
//       On the far way T1 read top_ = b - 1 and then far_ > b - 1, so before P0 in the one order (or after a later rise, of which
//       the same is true). P2 comes after P0, so it sees top_ = b - 1 at least, and P3 does not happen.
//   I2  A node is looked into only by who took it, or froze it. A thief may read a stale slot in T4, but slot t is written anew
//       only after top_ has passed t (B1 a round later; P4, then B1), or before it does (F3, then F4): T5 fails.
//   I3  A push that has returned is seen by whoever looks later, after a heavy barrier, unless it was taken. The one exception is
//       the moment from P1 to P5: the element is hidden, but its owner is awake and does not rest before somebody has taken it.
//
// What makes each hand-over visible:
//   (D) B2 -> T3, F2, and B3 -> T1: the slot, the node and what is in it. (P1, P4 and P5 store to bottom_ too, as a release.)
//   (F) F4 -> T1, P2: what the freezer read and moved. Later compare-exchanges of top_ pass it on.
//   (G) the store of ring_ in grow() -> its load before T4: the slots. Thieves may go on reading an old ring: its slots from
//       top on stay as they were when it was replaced. So old rings are kept until the deque is destroyed; together they
//       are smaller than the newest. The owner of an empty deque may null all slots (trim()): a
//       thief that has read one at T4 holds a number below top_, so T5 fails.
//   (O) owned_ in give_up() -> try_own(): all that is the owner's alone.
//   (B) B2 is N1 of event_count: whoever is about to sleep looks by T1 and T2 (see work_stealing_queue).
//
// Rejected: taking elements out of the middle by stealing them into a list aside. Until they are back, everybody would have to
// look there as well, they would lose their place, and the size would be wrong meanwhile.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "spool/base/cache_line.hpp"
#include "spool/base/function_ref.hpp"
#include "spool/base/mutex.hpp"
#include "spool/base/pause_point.hpp"
#include "spool/queue/detail/attachment.hpp"
#include "spool/queue/detail/stealing_nodes.hpp"
#include "spool/queue/detail/stealing_ring.hpp"
#include "spool/queue/detail/stealing_turns.hpp"
#include "spool/sync/atomics.hpp"

namespace spool::inline v1::detail {

/// SmallestRing and Near are smaller in the models.
template <class T, class Atomics = std_atomics, std::size_t SmallestRing = 256, std::uint64_t Near = 8>
class stealing_deque final : public attachment {
    using mutex = typename Atomics::mutex;
    using lock_guard = typename Atomics::lock_guard;
    template <class U>
    using atomic = typename Atomics::template atomic<U>;

public:
    using node = stealing_node<T>;

    /// Owned by the thread that makes it. `freeze_mutex` is the queue's, one for all its deques.
    explicit stealing_deque(mutex& freeze_mutex)
        : freeze_mutex_(freeze_mutex), newest_ring_(std::make_unique<ring>(smallest_ring)) {
        ring_.store(newest_ring_.get());
    }
    ~stealing_deque() {  // nobody else is here any more
        while (node* const n = steal()) {
            std::destroy_at(&n->value);
            delete n;
        }
    }
    stealing_deque(const stealing_deque&) = delete;
    stealing_deque& operator=(const stealing_deque&) = delete;

    /// The next in the queue's list; set before the deque is in the list, and never changed after.
    stealing_deque* next = nullptr;

    // ---- The owner

    /// \throws std::bad_alloc, then `x` and the deque are as they were
    void push(T& x) {
        if (seems_full()) [[unlikely]] {
            make_room();
        }
        push_back(nodes_.make(x));
    }
    /// The same, if nothing has to be called for it. False: nothing was done.
    [[nodiscard]] bool push_quickly(T& x) noexcept {
        if (!moves_quickly(x) || seems_full() || !nodes_.has_spare()) [[unlikely]] {
            return false;
        }
        push_back(nodes_.make_from_spare(x));
        return true;
    }

    /// How far a pop has come: it has a node, or there is none, or it was hindered and is to be gone on with.
    struct attempt {
        node* taken = nullptr;
        bool hindered = false;
    };
    /// The newest element's node, or null. It comes back by recycle().
    [[nodiscard]] node* pop() noexcept {
        const attempt first = begin_pop();
        return first.hindered ? go_on() : first.taken;
    }
    /// The two parts of it. The first calls nothing.
    [[nodiscard]] attempt begin_pop() noexcept {
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
        return {.hindered = true};
    }
    [[nodiscard, gnu::noinline]] node* go_on() noexcept {
        for (;;) {
            if (const std::optional<node*> n = pop_last()) {
                return *n;
            }
            if (const attempt again = begin_pop(); !again.hindered) {
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
    /// The rest of a push, also for what pop() has just given, or what was stolen elsewhere: there is room for it.
    void push_back(node* n) noexcept {
        const std::uint64_t b = bottom_.load(std::memory_order_relaxed);  // relaxed, owner
        // relaxed, owner; B1: B2 hands it over (D)
        ring_.load(std::memory_order_relaxed)->at(b).store(n, std::memory_order_relaxed);
        SPOOL_PAUSE_POINT("stealing_deque: about to publish");
        publish(b + 1);
    }

    /// Whether trim() would give memory back: a ring that has become large, and is in use again.
    [[nodiscard]] bool has_surplus() const noexcept {
        return newest_ring_->in_pages() && nodes_.has_surplus();
    }
    /// Frees spare nodes, and what the slots take if the deque is empty (G).
    void trim() noexcept {
        nodes_.trim();
        const std::uint64_t oldest = top_.load().oldest();        // E1
        if (oldest >= bottom_.load(std::memory_order_relaxed)) {  // relaxed, owner
            newest_ring_->discard();
        }
    }

    using look = stealing_turns::look;
    [[nodiscard]] look next_look() noexcept { return turns_.next(); }

    /// Where the owner begins when it steals next; null: anywhere.
    stealing_deque* victim = nullptr;
    /// Its owner is in a wait, and counted out of the queue's awake_consumers.
    bool is_resting = false;

    // ---- Everybody

    /// The oldest element's node, or null if there is none. It comes back by hand_back().
    enum class by { owner, other };
    [[nodiscard]] node* steal(by whom = by::other) noexcept {
        for (;;) {
            stealing_top t = top_.load();  // T1 (F)
            SPOOL_PAUSE_POINT("stealing_deque: stealing");
            if (t.oldest() >= far_.load() &&
                (is_above(t) || (whom == by::other && is_above_all(t)))) {  // T1 (D), T2, T3
                return nullptr;
            }
            if (t.is_frozen()) {
                await_thaw();  // T4
                continue;
            }
            const ring* const slots =
                ring_.load(std::memory_order_acquire);  // acquire (G): pairs with grow()
            node* const n = slots->at(t.oldest()).load(std::memory_order_relaxed);  // T4, relaxed: (D), (F)
            SPOOL_PAUSE_POINT("stealing_deque: about to steal");
            if (top_.compare_exchange_strong(t, stealing_top::at(t.oldest() + 1))) {  // T5
                return n;
            }
        }
    }
    void hand_back(node* n) noexcept { nodes_.hand_back(n); }

    /// How many there were at one moment of the call.
    [[nodiscard]] std::size_t size() const noexcept {
        for (stealing_top t = top_.load();;) {
            const std::uint64_t b = bottom_.load();
            const stealing_top again = top_.load();
            if (t.oldest() == again.oldest()) {  // and so it was when bottom_ was read
                return b > t.oldest() ? static_cast<std::size_t>(b - t.oldest()) : 0;
            }
            t = again;
        }
    }

    /// Makes the calling thread the owner, if there is none. What is inside comes with it.
    [[nodiscard]] bool try_own() noexcept {
        bool is_owned = false;
        return owned_.compare_exchange_strong(is_owned, true);  // (O)
    }
    void give_up() noexcept { owned_.store(false); }  // (O)

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

    /// Shows what is frozen, oldest first, for as long as `more` says so. False: it said no.
    bool visit(function_ref<bool(const T&)> more) const {
        for (std::uint64_t i = frozen_first_; i < frozen_last_; ++i) {
            if (!more(frozen_slot(i).load(std::memory_order_relaxed)->value)) {  // relaxed, guarded: frozen
                return false;
            }
        }
        return true;
    }
    /// Marks the elements for which `wanted` is true, and says how many. Nothing is moved yet.
    std::size_t choose(function_ref<bool(const T&)> wanted) {
        std::size_t count = 0;
        for (std::uint64_t i = frozen_first_; i < frozen_last_; ++i) {
            node* const n = frozen_slot(i).load(std::memory_order_relaxed);  // relaxed, guarded: frozen
            n->next = wanted(n->value) ? n : nullptr;  // the mark of a chosen one: it points at itself
            count += n->next != nullptr ? 1 : 0;
        }
        return count;
    }
    /// Takes the marked ones out and appends them to a list, oldest first. Answers its new end.
    node** take_chosen(node** end) noexcept {
        node* oldest = nullptr;
        node* newest = nullptr;
        std::uint64_t kept = frozen_last_;
        for (std::uint64_t i = frozen_last_; i > frozen_first_; --i) {
            node* const n = frozen_slot(i - 1).load(std::memory_order_relaxed);  // relaxed, guarded: frozen
            if (n->next == nullptr) {
                frozen_slot(--kept).store(n, std::memory_order_relaxed);  // F3, relaxed: F4 hands it over (F)
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
    static constexpr std::size_t smallest_ring = SmallestRing;
    static constexpr std::uint64_t near =
        Near;  // so many at the bottom, or up to twice that, are the owner's to pop

    // The rest of a pop that was hindered: P4 or P5, by what top_ is now. It may have been thawed since, or stolen from: P2 may come at any
    // time after P1 and its barrier. None: it was frozen, and one has to try again.
    std::optional<node*> pop_last() noexcept {
        const std::uint64_t b = bottom_.load(std::memory_order_relaxed) + 1;  // relaxed, owner: as before P1
        stealing_top t = top_.load();                                         // P2 again (F)
        if (!t.is_frozen() && t.oldest() < b - 1) {
            return own_slot(b - 1);  // P3: it has been thawed
        }
        SPOOL_PAUSE_POINT("stealing_deque: the last one");
        const bool mine =
            t == stealing_top::at(b - 1) && top_.compare_exchange_strong(t, stealing_top::at(b));  // P4
        if (t.is_frozen()) {
            SPOOL_PAUSE_POINT("stealing_deque: about to take back a pop");
            bottom_.store(b, std::memory_order_release);  // P5, release: keeps (D)
            await_thaw();
            return std::nullopt;
        }
        // P4, release: keeps (D), and needs no more: the deque is empty whichever of b - 1 and b is seen
        bottom_.store(b, std::memory_order_release);
        return mine ? own_slot(b - 1) : nullptr;
    }

    // B2 and B3: now there are so many.
    void publish(std::uint64_t b) noexcept {
        // B2, release (D): to T3 and F2; (B) with the light barrier
        bottom_.store(b, std::memory_order_release);  // B2
        Atomics::light_barrier();
        if (b - far_.load(std::memory_order_relaxed) >= 2 * near) [[unlikely]] {  // relaxed, owner
            far_.store(b - near,
                       std::memory_order_release);  // B3, release (D): to T1; a thief may read an older one
        }
    }
    // Whether there is none at t.
    [[nodiscard]] bool is_above(stealing_top t) const noexcept { return t.oldest() >= bottom_.load(); }
    [[nodiscard]] bool is_above_all(stealing_top t) const noexcept {
        Atomics::heavy_barrier();
        return is_above(t);
    }

    [[nodiscard]] node* own_slot(std::uint64_t i) const noexcept {
        // relaxed, owner; what F3 has moved was handed over to P2 (F)
        return ring_.load(std::memory_order_relaxed)->at(i).load(std::memory_order_relaxed);
    }
    [[nodiscard]] atomic<node*>& frozen_slot(std::uint64_t i) const noexcept { return newest_ring_->at(i); }

    // Thieves may have made room since oldest_seen_.
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
            larger->at(i).store(own_slot(i), std::memory_order_relaxed);  // relaxed: handed over below (G)
        }
        larger->older = std::move(newest_ring_);
        newest_ring_ = std::move(larger);
        SPOOL_PAUSE_POINT("stealing_deque: about to grow");
        ring_.store(newest_ring_.get(), std::memory_order_release);  // release (G): pairs with steal()
    }

    void await_thaw() const noexcept { const lock_guard lock{freeze_mutex_}; }

    // The owner's line, which thieves read.
    alignas(cache_line) atomic<std::uint64_t> bottom_{0};  // (D), (B)
    atomic<std::uint64_t> far_{0};                         // (D)
    atomic<ring*> ring_{nullptr};                          // (G)
    std::uint64_t oldest_seen_ = 0;  // owner only: top_ as it last saw it, so that push() seldom reads it
    stealing_turns turns_;           // owner only
    stealing_nodes<T, Atomics> nodes_;

    // The thieves' line.
    alignas(cache_line) atomic<stealing_top> top_{stealing_top{}};  // (F)
    static_assert(atomic<stealing_top>::is_always_lock_free);

    // Seldom used.
    alignas(cache_line) atomic<bool> owned_{true};  // (O)
    mutex& freeze_mutex_;                           // guards all below
    std::unique_ptr<ring> newest_ring_;             // written by the owner, who alone may read it without
    std::uint64_t frozen_first_ = 0;
    std::uint64_t frozen_last_ = 0;
};

}  // namespace spool::inline v1::detail
