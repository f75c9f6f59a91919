// The waiters of a queue that hands elements over directly. Each waiting thread has a waiter object
// on its stack, linked into a list under the queue's mutex, so that waiting allocates nothing.
#pragma once

#include <cstddef>
#include <utility>

#include "spool/base/function_ref.hpp"
#include "spool/detail/mutex.hpp"
#include "spool/detail/pause_point.hpp"
#include "spool/sync/event_count.hpp"

namespace spool::inline v1::detail {

// Base of types that a waiting_list can link.
struct waiting_links {
    waiting_links* before = nullptr;
    waiting_links* after = nullptr;
};

// A list that does not own its entries. Not synchronised: the queue's mutex guards it.
template <class Entry>
class waiting_list {
public:
    waiting_list() = default;
    waiting_list(const waiting_list&) = delete;
    waiting_list& operator=(const waiting_list&) = delete;

    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] Entry& front() noexcept { return static_cast<Entry&>(*ends_.after); }
    [[nodiscard]] Entry& back() noexcept { return static_cast<Entry&>(*ends_.before); }

    void push_back(Entry& entry) noexcept {
        waiting_links& links = entry;
        links.before = ends_.before;
        links.after = &ends_;
        links.before->after = &links;
        ends_.before = &links;
        ++size_;
    }
    void remove(Entry& entry) noexcept {
        const waiting_links& links = entry;
        links.before->after = links.after;
        links.after->before = links.before;
        --size_;
    }

    // Calls `f(entry)` from the front on until `f` returns false. `f` may remove the entry that it
    // is given.
    template <class F>
    void visit(F f) const {
        for (waiting_links* at = ends_.after; at != &ends_;) {
            waiting_links* const next = at->after;
            if (!f(static_cast<Entry&>(*at))) {
                return;
            }
            at = next;
        }
    }

    // Makes every waiter ask its give-up predicate again. Call under the mutex.
    void wake_all() const noexcept {
        visit([](Entry& waiter) {
            waiter.event.notify_all();  // pair: see blocking_queue::wake_consumers
            return true;
        });
    }

private:
    waiting_links ends_{&ends_, &ends_};  // a ring: the last links to the first
    std::size_t size_ = 0;
};

// A thread that waits for a partner. The partner hands the element over, then serves the waiter.
struct partner_waiter {
    bool served = false;
    event_count event{};
};

// The partner calls serve() under the mutex, and performs the returned wake-up after the unlock. By
// then the waiter may be gone, if its thread has noticed by itself.
using late_wake = event_count::late_wake;
// `listed` is the list entry that stands for the waiter, usually the waiter itself.
template <class Listed, class Waiter>
[[nodiscard]] late_wake serve(waiting_list<Listed>& list, Listed& listed, Waiter& waiter) noexcept {
    list.remove(listed);
    waiter.served = true;
    return waiter.event.notify_all_later();  // pair (M): the queue's mutex
}

// Waits until `me` is served. Precondition: `listed` is in the list. However the wait ends,
// `listed` is out of the list afterwards. If `me` is served at the last moment, that wins over
// every other outcome, even an exception from give_up, because the element has already changed
// hands. The list is passed by address, because the mutex is locked only here.
template <class Listed, class Waiter>
[[nodiscard]] wait_result wait_to_be_served(mutex& guard, waiting_list<Listed>* list, Waiter& me,
                                            Listed& listed, const wait_limits& limits,
                                            function_ref<bool()> give_up) {
    const auto served = [&] {
        const lock_guard lock{guard};
        return me.served;
    };
    const auto leave = [&] {  // true: served after all
        const lock_guard lock{guard};
        if (!me.served) {
            list->remove(listed);
        }
        return me.served;
    };
    wait_result how = wait_result::ready;
    try {
        SPOOL_PAUSE_POINT("hand-over: listed");
        how = me.event.await(served, limits, give_up);
    } catch (...) {
        if (!leave()) {
            throw;
        }
        return wait_result::ready;
    }
    if (how == wait_result::ready) {
        return how;
    }
    SPOOL_PAUSE_POINT("hand-over: about to leave the list");
    return leave() ? wait_result::ready : how;
}

}  // namespace spool::inline v1::detail
