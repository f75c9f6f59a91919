// The waiters of a queue that hands elements over directly. Each waiter has a note on its own
// stack, linked into a list under the queue's mutex, so that waiting allocates nothing.
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

// A list that does not own its notes. Not synchronised: the queue's mutex guards it.
template <class Note>
class waiting_list {
public:
    waiting_list() = default;
    waiting_list(const waiting_list&) = delete;
    waiting_list& operator=(const waiting_list&) = delete;

    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] Note& front() noexcept { return static_cast<Note&>(*ends_.after); }
    [[nodiscard]] Note& back() noexcept { return static_cast<Note&>(*ends_.before); }

    void push_back(Note& note) noexcept {
        waiting_links& links = note;
        links.before = ends_.before;
        links.after = &ends_;
        links.before->after = &links;
        ends_.before = &links;
        ++size_;
    }
    void remove(Note& note) noexcept {
        const waiting_links& links = note;
        links.before->after = links.after;
        links.after->before = links.before;
        --size_;
    }

    // Calls `f(note)` from the front on until `f` returns false. `f` may remove the note it is
    // given.
    template <class F>
    void visit(F f) const {
        for (waiting_links* at = ends_.after; at != &ends_;) {
            waiting_links* const next = at->after;
            if (!f(static_cast<Note&>(*at))) {
                return;
            }
            at = next;
        }
    }

    // Makes every waiter ask its give-up predicate again. Call under the mutex.
    void wake_all() const noexcept {
        visit([](Note& note) {
            note.event.notify_all();  // pair: see blocking_queue::wake_consumers
            return true;
        });
    }

private:
    waiting_links ends_{&ends_, &ends_};  // a ring: the last links to the first
    std::size_t size_ = 0;
};

// What a note needs to wait for a partner. The partner hands the element over, then serves the
// note.
struct waiting_for_partner {
    bool served = false;
    event_count event{};
};

// The partner calls serve() under the mutex, and performs the returned wake-up after the unlock. By
// then the note may be gone, if its owner has noticed by itself.
using late_wake = event_count::late_wake;
// `note` is the waiter; `listed` is the list entry that stands for it, usually the note itself.
template <class Listed, class Note>
[[nodiscard]] late_wake serve(waiting_list<Listed>& list, Listed& listed, Note& note) noexcept {
    list.remove(listed);
    note.served = true;
    return note.event.notify_all_later();  // pair (M): the queue's mutex
}

// Waits until the note is served. Precondition: the note is in the list. However the wait ends, the
// note is out of the list afterwards. If the note is served at the last moment, that wins over
// every other outcome, even an exception from give_up, because the element has already changed
// hands. The list is passed by address, because the mutex is locked only here.
template <class Listed, class Note>
[[nodiscard]] wait_result wait_to_be_served(mutex& guard, waiting_list<Listed>* list, Note& me,
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
