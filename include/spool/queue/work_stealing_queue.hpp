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
#include "spool/queue/detail/awake_consumers.hpp"
#include "spool/queue/detail/segment_fifo.hpp"
#include "spool/queue/detail/stealing_deque.hpp"
#include "spool/queue/detail/tidy_wait.hpp"
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
/// each consumer looks at the inbox first every 61st time. Every 976th time it looks instead at the
/// oldest elements of all deques in turn, its own included. for_each and take_if visit the deques,
/// oldest element first in each, then the inbox. They may miss an element that its owner is just
/// taking. Meanwhile takers wait, and so does a consumer whose deque has to grow.
///
/// Consumers must detach before the queue is destroyed. Elements must be nothrow-movable.
///
/// Why no wake-up is lost: pair (B) of event_count publishes an element in a deque, by a store to
/// the deque's bottom and a light barrier. A taker makes a heavy barrier before its second look
/// (stealing_deque.hpp), unless no attached consumer is awake (awake_consumers.hpp). The taker
/// finds the deque, because a seq_cst operation has put it into the list before (L). The inbox
/// publishes its elements as segment_fifo does.
template <class T>
class work_stealing_queue final : public blocking_queue<T> {
public:
    work_stealing_queue() noexcept(false) { prepare_barriers(); }
    ~work_stealing_queue() override {
        for (deque* d = deques_.load(); d != nullptr;) {
            delete std::exchange(d, d->next);
        }
    }

    /// The sum of the sizes of all stores, each read once.
    [[nodiscard]] std::size_t size() const override {
        std::size_t sum = 0;
        for (const deque* d = deques_.load(); d != nullptr; d = d->next) {
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
    void attach_consumer() override {
        deque* mine = deques_.load();  // (L)
        while (mine != nullptr && !mine->try_own()) {
            mine = mine->next;
        }
        if (mine == nullptr) {
            mine = std::make_unique<deque>(freeze_mutex_).release();
            mine->next = deques_.load();
            SPOOL_PAUSE_POINT("work_stealing_queue: about to attach");
            while (!deques_.compare_exchange_weak(mine->next, mine)) {  // (L)
            }
        }
        awake_.add();
        mine->enter(this);
    }
    /// Takes the deque from the calling thread. Does nothing if the thread has none.
    void detach_consumer() noexcept override {
        if (deque* const mine = own()) {
            mine->leave();
            mine->trim();
            const bool leftovers = mine->size() != 0;
            SPOOL_PAUSE_POINT("work_stealing_queue: about to detach");
            mine->give_up();
            awake_.remove();
            if (leftovers) {
                this->wake_consumers();  // pair (B): the deque's bottom
            }
        }
    }

    void synchronize_with_producers() const noexcept override { heavy_barrier(); }

    [[nodiscard]] bool keeps_store_per_consumer() const noexcept override { return true; }
    /// As in blocking_queue. A waiting consumer frees the memory that the inbox and its own deque
    /// no longer need.
    wait_result pop_until(std::optional<T>& x, const wait_limits& limits,
                          function_ref<bool()> give_up = blocking_queue<T>::never_give_up) override {
        deque* const mine = own();
        const end_of_rest awake_afterwards{*this, mine};
        const bool trims_own = mine != nullptr && mine->has_surplus();
        if (!trims_own && !inbox_.has_surplus()) {
            return blocking_queue<T>::pop_until(x, limits, give_up);
        }
        return detail::tidy_wait(
            limits, inbox_.patience,
            [&](const wait_limits& some) { return blocking_queue<T>::pop_until(x, some, give_up); },
            [&] {
                inbox_.give_back();
                if (trims_own) {
                    mine->trim();
                }
            });
    }

    bool use_own(function_ref<bool(T&)> use) override {
        deque* const mine = own();
        node* const n = mine != nullptr ? mine->pop() : nullptr;
        return n != nullptr && use_or_keep(*mine, *n, use);
    }
    bool use_other(function_ref<bool(T&)> use) override {
        deque* const mine = own();
        if (mine == nullptr || !mine->has_room()) {
            return false;
        }
        for (deque* d = deques_.load(); d != nullptr; d = d->next) {  // (L)
            if (node* const n = d != mine ? d->steal() : nullptr) {
                return use_or_keep(*mine, *n, use);
            }
        }
        return false;
    }

protected:
    void prepare_last_look() noexcept override {
        deque* const mine = own();
        const bool begins = mine != nullptr && !std::exchange(mine->is_resting, true);
        if (begins ? awake_.rest() : awake_.has_any()) {
            heavy_barrier();
        }
    }

    bool try_push(T& x) override {
        deque* const mine = own();
        if (mine == nullptr || !mine->push_quickly(x)) [[unlikely]] {
            return push_at_length(mine, x);
        }
        this->publish_before_notify();
        return true;
    }
    std::size_t try_push_some(std::span<T> xs) override {
        return own() != nullptr ? blocking_queue<T>::try_push_some(xs)
                                : inbox_.try_push_some(xs.data(), xs.size(), this->unlimited);
    }

    std::optional<T> try_pop() override {
        std::optional<T> x;
        pop(own(), [&x](T&& element) { x.emplace(std::move(element)); });
        return x;
    }
    bool try_pop_into(T& x) override {
        if constexpr (std::is_nothrow_move_assignable_v<T>) {
            const auto take = [&x](T&& element) { x = std::move(element); };
            deque* const mine = own();
            if (mine == nullptr || !detail::is_vacant(x)) [[unlikely]] {
                return pop(mine, take);
            }
            const typename deque::look first = mine->next_look();
            if (first != deque::look::newest) [[unlikely]] {
                return pop_in_turn(mine, first, take);
            }
            const typename deque::attempt newest = mine->begin_pop();
            if (newest.taken == nullptr) [[unlikely]] {
                return pop_rest(mine, newest.hindered, take);
            }
            if (!detail::moves_quickly(newest.taken->value)) [[unlikely]] {
                return hand_out(mine, newest.taken, take);
            }
            newest.taken->unpack([&x](T&& element) { detail::quick_assign(x, element); });
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
            const frozen all{deques_.load(), nullptr};
            std::size_t count = 0;
            for (deque* d = all.first; d != nullptr; d = d->next) {
                count += d->choose(wanted);
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
                end = d->take_chosen(end);
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

    void visit(function_ref<bool(const T&)> more) const override {
        {
            const detail::lock_guard lock{freeze_mutex_};
            for (deque* d = deques_.load(); d != nullptr; d = d->next) {
                const frozen one{d, d->next};
                if (!d->visit(more)) {
                    return;
                }
            }
        }
        inbox_.visit(more);
    }

private:
    using deque = detail::stealing_deque<T>;
    using node = typename deque::node;

    // Calls `use` on the element of `n`, a node that was taken out. If `use` returns true or
    // throws, the node becomes a spare of `mine`. Otherwise the node goes to the bottom of `mine`.
    bool use_or_keep(deque& mine, node& n, function_ref<bool(T&)> use) {
        struct spare_afterwards {
            deque& keeper;
            node* used;
            ~spare_afterwards() {
                if (used != nullptr) {
                    keeper.recycle(used->empty());
                }
            }
        } afterwards{mine, &n};
        if (use(n.value)) [[likely]] {
            return true;
        }
        keep(mine, *std::exchange(afterwards.used, nullptr));
        return false;
    }
    [[gnu::noinline]] void keep(deque& mine, node& n) noexcept {
        SPOOL_PAUSE_POINT("work_stealing_queue: about to put back");
        mine.push_back(&n);
        this->publish_before_notify();
        // A consumer that looked in the meantime has not seen the element.
        this->notify_consumer();  // pair (B): the deque's bottom
    }

    // Counts a consumer as awake again after it has rested in its wait.
    struct end_of_rest {
        work_stealing_queue& queue;
        deque* const mine;
        ~end_of_rest() {
            if (mine != nullptr && std::exchange(mine->is_resting, false)) {
                queue.awake_.add();
            }
        }
    };

    // Freezes some deques of the list, so that no thread can take from them. Requires
    // freeze_mutex_.
    struct frozen {
        frozen(deque* from, deque* to) noexcept : first(from), last(to) {
            for (deque* d = first; d != last; d = d->next) {
                d->freeze();
            }
        }
        frozen(const frozen&) = delete;
        frozen& operator=(const frozen&) = delete;
        ~frozen() {
            for (deque* d = first; d != last; d = d->next) {
                d->thaw();
            }
        }
        deque* const first;
        deque* const last;
    };

    [[nodiscard]] deque* own() const noexcept { return static_cast<deque*>(detail::attachment::find(this)); }

    // Slow path of try_push. The fast paths of push and pop call nothing (see moves_quickly):
    // whatever they cannot handle ends them, and a slow path does the rest.
    [[gnu::noinline]] bool push_at_length(deque* mine, T& x) {
        if (mine == nullptr) {
            return inbox_.try_push(x, this->unlimited);
        }
        mine->push(x);
        this->publish_before_notify();
        return true;
    }

    // `take` moves the element out. False: the queue is empty.
    template <class Take>
    [[gnu::noinline]] bool pop(deque* mine, Take take) {
        if (mine == nullptr) {
            return inbox_.pop(take) || steal(mine, take);
        }
        const typename deque::look first = mine->next_look();
        return first == deque::look::newest ? pop_newest(mine, take) : pop_in_turn(mine, first, take);
    }
    // For the turns at which the newest element does not come first.
    template <class Take>
    [[gnu::noinline]] bool pop_in_turn(deque* mine, typename deque::look first, Take take) {
        return (first == deque::look::inbox ? inbox_.pop(take) : steal(mine, take)) || pop_newest(mine, take);
    }
    template <class Take>
    bool pop_newest(deque* mine, Take take) {
        const typename deque::attempt newest = mine->begin_pop();
        return newest.taken != nullptr ? hand_out(mine, newest.taken, take)
                                       : pop_rest(mine, newest.hindered, take);
    }
    template <class Take>
    [[gnu::noinline]] bool pop_rest(deque* mine, bool hindered, Take take) {
        node* const n = hindered ? mine->go_on() : nullptr;
        return n != nullptr ? hand_out(mine, n, take) : inbox_.pop(take) || steal(mine, take);
    }
    template <class Take>
    [[gnu::noinline]] bool hand_out(deque* mine, node* n, Take take) {
        n->unpack(take);
        mine->recycle(n);
        return true;
    }

    // Takes the oldest element of any deque. A consumer starts behind the deque it last stole from.
    template <class Take>
    [[gnu::noinline]] bool steal(deque* mine, Take take) {
        deque* const head = deques_.load();  // (L)
        deque* const start = mine != nullptr && mine->victim != nullptr ? mine->victim : head;
        for (deque* d = start; d != nullptr;) {
            if (node* const n = d->steal(d == mine ? deque::by::owner : deque::by::other)) {
                n->unpack(take);
                SPOOL_PAUSE_POINT("work_stealing_queue: stolen");
                d->hand_back(n);
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
    // Only grows, at the head. attach_consumer() writes it. Publishes the deques (L).
    std::atomic<deque*> deques_{nullptr};
    // Held while a deque is frozen or grows. A thread locks it to wait for the thaw.
    mutable detail::mutex freeze_mutex_;
    detail::awake_consumers<> awake_;
};

}  // namespace spool::inline v1
