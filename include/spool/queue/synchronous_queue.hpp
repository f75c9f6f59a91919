// synchronous_queue: no storage; each element goes from hand to hand.
#pragma once

#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "spool/queue/blocking_queue.hpp"

namespace spool::inline v1 {

/// A taker waits for a giver and a giver for a taker. offer() succeeds only if somebody waits to take, poll() only if somebody
/// waits to give; the one who waits longest is served first. The size is always 0, so is the capacity, and nothing can
/// be looked at or removed. See blocking_queue for the rest.
///
/// Each who waits has a note of its own in one of two lists, with its own event: the other side fills (or empties) the note
/// and wakes just that one, under the lock, so that the note cannot be gone by then.
template <class T>
class synchronous_queue final : public blocking_queue<T> {
public:
    [[nodiscard]] std::size_t size() const override { return 0; }
    [[nodiscard]] std::size_t capacity() const override { return 0; }

    wait_result push_until(T& x, const wait_limits& limits,
                           function_ref<bool()> give_up = blocking_queue<T>::never_give_up) override {
        giver me{&x};
        {
            const std::lock_guard lock{mutex_};
            if (hand_to_taker(x)) {
                return wait_result::ready;
            }
            me.position = givers_.insert(givers_.end(), &me);
        }
        return wait(me, givers_, limits, give_up);
    }

    wait_result pop_until(std::optional<T>& x, const wait_limits& limits,
                          function_ref<bool()> give_up = blocking_queue<T>::never_give_up) override {
        taker me{&x};
        {
            const std::lock_guard lock{mutex_};
            x = take_from_giver();
            if (x.has_value()) {
                return wait_result::ready;
            }
            me.position = takers_.insert(takers_.end(), &me);
        }
        return wait(me, takers_, limits, give_up);
    }

    void wake_consumers() noexcept override { wake(takers_); }
    void wake_producers() noexcept override { wake(givers_); }

protected:
    bool try_push(T& x) override {
        const std::lock_guard lock{mutex_};
        return hand_to_taker(x);
    }
    std::optional<T> try_pop() override {
        const std::lock_guard lock{mutex_};
        return take_from_giver();
    }
    std::vector<T> extract_if(function_ref<bool(const T&)>) override { return {}; }

private:
    template <class Goods>
    struct note {
        Goods goods;  // where the element is, or is to go
        bool served = false;
        typename std::list<note*>::iterator position{};
        event_count event{};
    };
    using giver = note<T*>;
    using taker = note<std::optional<T>*>;

    template <class Note>
    static void serve(std::list<Note*>& waiting) noexcept {  // the first of them; under the lock
        Note* const first = waiting.front();
        waiting.pop_front();
        first->served = true;
        first->event.notify_all();  // pair (M): mutex_
    }
    bool hand_to_taker(T& x) {
        if (takers_.empty()) {
            return false;
        }
        takers_.front()->goods->emplace(std::move(x));
        serve(takers_);
        return true;
    }
    std::optional<T> take_from_giver() {
        if (givers_.empty()) {
            return std::nullopt;
        }
        std::optional<T> x{std::move(*givers_.front()->goods)};
        serve(givers_);
        return x;
    }

    template <class Note>
    wait_result wait(Note& me, std::list<Note*>& waiting, const wait_limits& limits,
                     function_ref<bool()> give_up) {
        struct leave {  // also when give_up throws
            synchronous_queue& queue;
            Note& me;
            std::list<Note*>& waiting;
            ~leave() {
                const std::lock_guard lock{queue.mutex_};
                if (!me.served) {
                    waiting.erase(me.position);
                }
            }
        };
        const auto served = [&] {
            const std::lock_guard lock{mutex_};
            return me.served;
        };
        wait_result how = wait_result::ready;
        {
            const leave at_end{*this, me, waiting};
            how = me.event.await(served, limits, give_up);
        }
        return me.served ? wait_result::ready : how;  // served in the last moment: nobody writes it any more
    }

    template <class Note>
    void wake(std::list<Note*>& waiting) noexcept {
        const std::lock_guard lock{mutex_};
        for (Note* const one : waiting) {
            one->event.notify_all();
        }
    }

    std::mutex mutex_;  // guards everything below and every note in them
    std::list<giver*> givers_;
    std::list<taker*> takers_;
};

}  // namespace spool::inline v1
