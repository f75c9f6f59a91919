// synchronous_queue: no storage; each element goes from hand to hand.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "spool/base/mutex.hpp"
#include "spool/queue/blocking_queue.hpp"
#include "spool/queue/detail/parked.hpp"
#include "spool/queue/detail/waiting_list.hpp"

namespace spool::inline v1 {

/// Who is served first among those who wait.
enum class fairness {
    unfair,  ///< the newest: its thread is the warmest, and idle ones can time out
    fair,    ///< who waits longest
};

/// A taker waits for a giver and a giver for a taker. offer() succeeds only if somebody waits to take, poll() only if somebody
/// waits to give. The size is always 0, so is the capacity, and nothing can be looked at or
/// removed. See blocking_queue for the rest.
///
/// Elements must move without throwing. Waiting to take allocates nothing. Nor does giving an
/// element that is trivially copyable, or a task whose callable is (submit() makes such tasks). Any
/// other element travels in a block of memory.
///
/// Each who waits has a note of its own in one of two lists, with its own event: the other side fills (or empties) the note
/// and wakes just that one, after the unlock (where there are futexes), so that it need not wait for the lock. One who is served in the moment in which
/// its wait ends otherwise has been served: no element is lost between the two.
template <class T>
class synchronous_queue final : public blocking_queue<T> {
public:
    synchronous_queue() = default;
    explicit synchronous_queue(fairness who_is_first) : fairness_(who_is_first) {}

    [[nodiscard]] std::size_t size() const override { return 0; }
    [[nodiscard]] std::size_t capacity() const override { return 0; }
    [[nodiscard]] std::unique_ptr<blocking_queue<T>> fresh() const override {
        return std::make_unique<synchronous_queue>(fairness_);
    }

    wait_result push_until(T& x, const wait_limits& limits,
                           function_ref<bool()> give_up = blocking_queue<T>::never_give_up) override {
        detail::loan<T> goods{x};  // before the lock: see parked
        giver me{{}, {}, &goods};
        {
            detail::late_wake wake;
            const detail::lock_guard lock{mutex_};
            if (hand_to_taker(goods, wake)) {
                return wait_result::ready;
            }
            givers_.push_back(me);
        }
        return detail::wait_to_be_served(mutex_, &givers_, me, me, limits, give_up);
    }

    wait_result pop_until(std::optional<T>& x, const wait_limits& limits,
                          function_ref<bool()> give_up = blocking_queue<T>::never_give_up) override {
        x.reset();
        detail::parked<T> goods;  // unpacked after the lock
        const wait_result how = wait_for(goods, limits, give_up);
        if (how == wait_result::ready) {
            x.emplace(std::move(*goods));
        }
        return how;
    }

    void wake_consumers() noexcept override {
        const detail::lock_guard lock{mutex_};
        takers_.wake_all();
    }
    void wake_producers() noexcept override {
        const detail::lock_guard lock{mutex_};
        givers_.wake_all();
    }

protected:
    bool try_push(T& x) override {
        if (detail::parked<T>::needs_no_box(x)) {  // so to park it calls nothing
            detail::late_wake wake;
            const detail::lock_guard lock{mutex_};
            return hand_to_taker(x, wake);
        }
        if (!has_taker()) {
            return false;
        }
        detail::loan<T> goods{x};
        detail::late_wake wake;
        const detail::lock_guard lock{mutex_};
        return hand_to_taker(goods, wake);
    }
    std::optional<T> try_pop() override {
        detail::parked<T> goods;
        {
            detail::late_wake wake;
            const detail::lock_guard lock{mutex_};
            if (!take_from_giver(goods, wake)) {
                return std::nullopt;
            }
        }
        return std::optional<T>{std::move(*goods)};
    }
    std::vector<T> extract_if(function_ref<bool(const T&)>) override { return {}; }

private:
    template <class Goods>
    struct note : detail::waiting_links, detail::waiting_for_partner {
        Goods* goods;  // where the element is, or is to go
    };
    using giver = note<detail::loan<T>>;
    using taker = note<detail::parked<T>>;

    wait_result wait_for(detail::parked<T>& goods, const wait_limits& limits, function_ref<bool()> give_up) {
        taker me{{}, {}, &goods};
        {
            detail::late_wake wake;
            const detail::lock_guard lock{mutex_};
            if (take_from_giver(goods, wake)) {
                return wait_result::ready;
            }
            takers_.push_back(me);
        }
        return detail::wait_to_be_served(mutex_, &takers_, me, me, limits, give_up);
    }
    [[nodiscard]] bool has_taker() {
        const detail::lock_guard lock{mutex_};
        return !takers_.empty();
    }

    template <class Note>
    Note& first_of(detail::waiting_list<Note>& waiting) const noexcept {
        return fairness_ == fairness::fair ? waiting.front() : waiting.back();
    }
    static detail::parked<T> parcel(T& x) { return detail::parked<T>{x}; }
    static detail::parked<T> parcel(detail::loan<T>& x) noexcept { return x.release(); }
    // The wake is to be done after the unlock.
    template <class Goods>
    bool hand_to_taker(Goods& x, detail::late_wake& wake) noexcept SPOOL_REQUIRES(mutex_) {
        if (takers_.empty()) {
            return false;
        }
        taker& first = first_of(takers_);
        *first.goods = parcel(x);
        wake = detail::serve(takers_, first, first);
        return true;
    }
    bool take_from_giver(detail::parked<T>& x, detail::late_wake& wake) noexcept SPOOL_REQUIRES(mutex_) {
        if (givers_.empty()) {
            return false;
        }
        giver& first = first_of(givers_);
        x = first.goods->release();
        wake = detail::serve(givers_, first, first);
        return true;
    }

    const fairness fairness_ = fairness::unfair;
    detail::mutex mutex_;  // guards everything below and every note in them; the pair (M) of every wait
    detail::waiting_list<giver> givers_ SPOOL_GUARDED_BY(mutex_);
    detail::waiting_list<taker> takers_ SPOOL_GUARDED_BY(mutex_);
};

}  // namespace spool::inline v1
