// work_stealing_queue: one store per consumer, from which every other consumer may steal.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "spool/detail/mutex.hpp"
#include "spool/detail/pause_point.hpp"
#include "spool/queue/blocking_queue.hpp"
#include "spool/queue/detail/deque_list.hpp"
#include "spool/queue/detail/segment_fifo.hpp"
#include "spool/queue/detail/stealing_deque.hpp"
#include "spool/queue/detail/wait_then_trim.hpp"
#include "spool/sync/barrier.hpp"

namespace spool::inline v1 {

/// For consumers that produce more work while they work: tasks that spawn tasks. Unbounded. See
/// blocking_queue for the rest.
///
///     spool::thread_pool_executor pool(
///         {.queue = std::make_unique<spool::work_stealing_queue<spool::task>>()});
///
/// Each attached consumer (every worker of a pool is one) has its own deque. The consumer adds
/// there, and takes its newest element first, with no lock and almost no contention. When its deque
/// is empty, the consumer takes from the inbox, then steals the oldest element of another deque.
/// Threads that are not attached add to the inbox; they take from there first, then steal. A
/// consumer that detaches leaves its elements to the other consumers, and its deque to the next
/// thread that attaches.
///
/// Order: none overall. No element waits forever while attached consumers keep adding new ones:
/// each consumer tries the inbox first every 61st time. Every 976th time it tries instead the
/// oldest elements of all deques in turn, its own included. for_each and take_if visit the deques,
/// oldest element first in each, then the inbox. They may miss an element that its owner is just
/// taking. Meanwhile takers wait, and so does a consumer whose deque has to grow.
///
/// Consumers must detach before the queue is destroyed. Elements must be nothrow-movable.
///
/// Why no wake-up is lost: pair (B) of event_count publishes an element in a deque, by a store to
/// the deque's bottom and a light barrier. A taker makes a heavy barrier before its re-check
/// (stealing_deque.hpp), unless no attached consumer is awake (awake_consumers.hpp). The taker
/// finds the deque, because a seq_cst operation has put it into the list before (L). The inbox
/// publishes its elements as segment_fifo does.
template <class T>
class work_stealing_queue final : public blocking_queue<T> {
public:
    work_stealing_queue() noexcept(false) { prepare_barriers(); }
    ~work_stealing_queue() override = default;

    /// The sum of the sizes of all stores, each read once.
    [[nodiscard]] std::size_t size() const override {
        std::size_t sum = 0;
        for (const deque* d = deques_.first(); d != nullptr; d = d->next) {
            sum += d->size();
        }
        return sum + inbox_.size();
    }
    [[nodiscard]] std::unique_ptr<blocking_queue<T>> fresh() const override {
        return std::make_unique<work_stealing_queue>();
    }
    /// How many elements came from threads that are not attached.
    [[nodiscard]] std::size_t inbox_size() const { return inbox_.size(); }

    /// Gives the calling thread a deque. \throws std::bad_alloc, then the thread goes on without
    /// one
    void attach_consumer() override { deques_.attach(freeze_mutex_).enter(this); }
    /// Takes the deque from the calling thread. Does nothing if the thread has none.
    void detach_consumer() noexcept override {
        if (deque* const mine = own_deque()) {
            mine->trim();
            detach(*mine);
        }
    }
    void detach_consumer_for_now() noexcept override {
        if (deque* const mine = own_deque()) {
            detach(*mine);
        }
    }

    void synchronize_with_producers() const noexcept override { heavy_barrier(); }
    void expose_own(bool exposes) noexcept override {
        if (deque* const mine = own_deque()) {
            mine->exposes = exposes;
        }
    }

    [[nodiscard]] bool keeps_store_per_consumer() const noexcept override { return true; }
    /// As in blocking_queue. A waiting consumer frees the memory that the inbox and its own deque
    /// no longer need.
    wait_result pop_until(std::optional<T>& x, const wait_limits& limits,
                          function_ref<bool()> give_up = blocking_queue<T>::never_give_up) override {
        deque* const mine = own_deque();
        const rest_guard awake_on_exit{*this, mine};
        const bool can_trim_own = mine != nullptr && mine->has_surplus();
        if (!can_trim_own && !inbox_.has_surplus()) {
            return blocking_queue<T>::pop_until(x, limits, give_up);
        }
        return detail::wait_then_trim(
            limits, inbox_.idle_before_trim,
            [&](const wait_limits& part) { return blocking_queue<T>::pop_until(x, part, give_up); },
            [&] {
                inbox_.trim();
                if (can_trim_own) {
                    mine->trim();
                }
            });
    }

    bool use_own(function_ref<bool(T&)> use) override {
        deque* const mine = own_deque();
        node* const n = mine != nullptr ? mine->try_pop() : nullptr;
        return n != nullptr && use_or_put_back(*mine, *n, use);
    }
    bool use_other(function_ref<bool(T&)> use) override {
        deque* const mine = own_deque();
        if (mine == nullptr || !mine->has_room()) {
            return false;
        }
        for (deque* d = deques_.first(); d != nullptr; d = d->next) {  // (L)
            if (node* const n = d != mine ? d->try_steal() : nullptr) {
                return use_or_put_back(*mine, *n, use);
            }
        }
        return false;
    }

protected:
    void prepare_recheck() noexcept override {
        deque* const mine = own_deque();
        const bool begins_rest = mine != nullptr && !std::exchange(mine->is_resting, true);
        if (begins_rest ? deques_.awake.remove_then_has_any() : deques_.awake.has_any()) {
            heavy_barrier();
        }
    }

    bool try_push(T& x) override {
        deque* const mine = own_deque();
        if (mine == nullptr || !mine->try_push_fast(x)) [[unlikely]] {
            return push_slow(mine, x);
        }
        this->publish_before_notify();
        return true;
    }
    std::size_t try_push_some(std::span<T> xs) override {
        return own_deque() != nullptr ? blocking_queue<T>::try_push_some(xs)
                                      : inbox_.try_push_some(xs.data(), xs.size(), this->unlimited);
    }

    std::optional<T> try_pop() override {
        std::optional<T> x;
        try_pop_with(own_deque(), [&x](T&& element) { x.emplace(std::move(element)); });
        return x;
    }
    bool try_pop_into(T& x) override {
        if constexpr (std::is_nothrow_move_assignable_v<T>) {
            const auto take = [&x](T&& element) { x = std::move(element); };
            deque* const mine = own_deque();
            if (mine == nullptr || !detail::can_assign_without_calls(x)) [[unlikely]] {
                return try_pop_with(mine, take);
            }
            const detail::pop_source first = mine->next_source();
            if (first != detail::pop_source::newest) [[unlikely]] {
                return try_pop_from(mine, first, take);
            }
            const typename deque::attempt newest = mine->try_pop_fast();
            if (newest.taken == nullptr) [[unlikely]] {
                return try_pop_elsewhere(mine, newest.state, take);
            }
            if (!detail::can_move_without_calls(newest.taken->value)) [[unlikely]] {
                return unpack_and_recycle(mine, newest.taken, take);
            }
            newest.taken->unpack([&x](T&& element) { detail::assign_without_calls(x, element); });
            mine->recycle(newest.taken);
            return true;
        } else {
            return blocking_queue<T>::try_pop_into(x);
        }
    }

    std::vector<T> extract_if(function_ref<bool(const T&)> wanted) override {
        std::vector<T> out;
        std::vector<T> from_inbox;
        node* chosen = nullptr;
        {
            const detail::lock_guard lock{freeze_mutex_};
            const freeze_guard all{deques_.first(), nullptr};
            std::size_t count = 0;
            for (deque* d = all.first; d != nullptr; d = d->next) {
                count += d->mark_wanted(wanted);
            }
            out.reserve(count);
            // The commit point: before it nothing has moved, and after it nothing can fail.
            from_inbox = inbox_.extract_if([&](const T& x) {
                const bool is_wanted = wanted(x);
                if (is_wanted && ++count > out.capacity()) {
                    out.reserve(2 * count);
                }
                return is_wanted;
            });
            node** end = &chosen;
            for (deque* d = all.first; d != nullptr; d = d->next) {
                end = d->unlink_marked(end);
            }
        }
        while (chosen != nullptr) {
            node* const n = std::exchange(chosen, chosen->next);
            out.push_back(*n->unpack());
            delete n;
        }
        std::move(from_inbox.begin(), from_inbox.end(), std::back_inserter(out));
        return out;
    }

    void visit(function_ref<bool(const T&)> visitor) const override {
        {
            const detail::lock_guard lock{freeze_mutex_};
            for (deque* d = deques_.first(); d != nullptr; d = d->next) {
                const freeze_guard one{d, d->next};
                if (!d->visit(visitor)) {
                    return;
                }
            }
        }
        inbox_.visit(visitor);
    }

private:
    using deque = detail::stealing_deque<T>;
    using node = typename deque::node;

    void detach(deque& mine) noexcept {
        mine.leave();
        if (deques_.detach(mine)) {
            this->wake_consumers();  // D4; pair (B): the deque's bottom
        }
    }

    // Calls `use` on the element of `n`, a node that was taken out. If `use` returns true or
    // throws, the node becomes a spare of `mine`. Otherwise the node goes to the bottom of `mine`.
    bool use_or_put_back(deque& mine, node& n, function_ref<bool(T&)> use) {
        struct recycle_guard {
            deque& owner;
            node* used;
            ~recycle_guard() {
                if (used != nullptr) {
                    owner.recycle(used->destroy_value());
                }
            }
        } guard{mine, &n};
        if (use(n.value)) [[likely]] {
            return true;
        }
        put_back(mine, *std::exchange(guard.used, nullptr));
        return false;
    }
    [[gnu::noinline]] void put_back(deque& mine, node& n) noexcept {
        SPOOL_PAUSE_POINT("work_stealing_queue: about to put back");
        mine.push_back(&n);
        this->publish_before_notify();
        // A consumer that checked in the meantime has not seen the element.
        this->notify_consumer();  // pair (B): the deque's bottom
    }

    // Counts a consumer as awake again after it has rested in its wait.
    struct rest_guard {
        work_stealing_queue& queue;
        deque* const mine;
        ~rest_guard() {
            if (mine != nullptr && std::exchange(mine->is_resting, false)) {
                queue.deques_.awake.add();
            }
        }
    };

    // Freezes some deques of the list, so that no thread can take from them. Requires
    // freeze_mutex_.
    struct freeze_guard {
        freeze_guard(deque* from, deque* to) noexcept : first(from), last(to) {
            for (deque* d = first; d != last; d = d->next) {
                d->freeze();
            }
        }
        freeze_guard(const freeze_guard&) = delete;
        freeze_guard& operator=(const freeze_guard&) = delete;
        ~freeze_guard() {
            for (deque* d = first; d != last; d = d->next) {
                d->thaw();
            }
        }
        deque* const first;
        deque* const last;
    };

    [[nodiscard]] deque* own_deque() const noexcept {
        return static_cast<deque*>(detail::attachment::find(this));
    }

    // Slow path of try_push. The fast paths of push and pop call nothing (see
    // can_move_without_calls): whatever they cannot handle ends them, and a slow path does the
    // rest.
    [[gnu::noinline]] bool push_slow(deque* mine, T& x) {
        if (mine == nullptr) {
            return inbox_.try_push(x, this->unlimited);
        }
        mine->push(x);
        this->publish_before_notify();
        return true;
    }

    // `take` moves the element out. False: the queue is empty.
    template <class Take>
    [[gnu::noinline]] bool try_pop_with(deque* mine, Take take) {
        if (mine == nullptr) {
            return inbox_.try_pop_with(take) || try_steal(mine, take);
        }
        const detail::pop_source first = mine->next_source();
        return first == detail::pop_source::newest ? try_pop_newest(mine, take)
                                                   : try_pop_from(mine, first, take);
    }
    // Tries `first`, which is not the newest element, then the rest.
    template <class Take>
    [[gnu::noinline]] bool try_pop_from(deque* mine, detail::pop_source first, Take take) {
        return (first == detail::pop_source::inbox ? inbox_.try_pop_with(take) : try_steal(mine, take)) ||
               try_pop_newest(mine, take);
    }
    template <class Take>
    bool try_pop_newest(deque* mine, Take take) {
        const typename deque::attempt newest = mine->try_pop_fast();
        return newest.taken != nullptr ? unpack_and_recycle(mine, newest.taken, take)
                                       : try_pop_elsewhere(mine, newest.state, take);
    }
    template <class Take>
    [[gnu::noinline]] bool try_pop_elsewhere(deque* mine, typename deque::pop_state state, Take take) {
        node* const n = state == deque::pop_state::contended ? mine->try_pop_slow() : nullptr;
        return n != nullptr ? unpack_and_recycle(mine, n, take)
                            : inbox_.try_pop_with(take) || try_steal(mine, take);
    }
    template <class Take>
    [[gnu::noinline]] bool unpack_and_recycle(deque* mine, node* n, Take take) {
        n->unpack(take);
        mine->recycle(n);
        return true;
    }

    // Takes the oldest element of any deque. A consumer starts behind the deque it last stole from.
    template <class Take>
    [[gnu::noinline]] bool try_steal(deque* mine, Take take) {
        deque* const head = deques_.first();  // (L)
        deque* const start = mine != nullptr && mine->victim != nullptr ? mine->victim : head;
        for (deque* d = start; d != nullptr;) {
            if (node* const n = d->try_steal(d == mine ? deque::taker::owner : deque::taker::thief)) {
                n->unpack(take);
                SPOOL_PAUSE_POINT("work_stealing_queue: stolen");
                d->return_from_thief(n);
                if (mine != nullptr) {
                    mine->victim = d->next;
                }
                return true;
            }
            d = d->next != nullptr ? d->next : head;
            if (d == start) {
                break;
            }
        }
        return false;
    }

    mutable detail::segment_fifo<T, detail::slots_per_segment<T>> inbox_;
    // Held while a deque is frozen or grows. A thread locks it to wait for the thaw.
    mutable detail::mutex freeze_mutex_;
    detail::deque_list<deque> deques_;
};

}  // namespace spool::inline v1
