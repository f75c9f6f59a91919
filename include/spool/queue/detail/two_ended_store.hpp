// two_ended_store: the storage of linked_blocking_deque, without the waiting. A list under a mutex.
//
// Elements enter and leave inside their list nodes, so they are moved and destroyed outside the
// lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <iterator>
#include <limits>
#include <list>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "spool/base/function_ref.hpp"
#include "spool/detail/mutex.hpp"
#include "spool/queue/detail/parked.hpp"

namespace spool::inline v1::detail {

enum class deque_end { first, last };

// Thread safety: any thread may call any member. Callbacks run under the lock; if one throws,
// nothing changes.
template <class T>
class two_ended_store {
    static_assert(std::is_nothrow_move_constructible_v<T>,
                  "elements of linked_blocking_deque must move without throwing: else one could be lost");

public:
    [[nodiscard]] std::size_t size() const {
        const lock_guard lock{mutex_};
        return elements_.size();
    }
    [[nodiscard]] std::size_t capacity() const { return capacity_.load(); }
    /// For a forked child: takes no lock, since a thread that exists only in the parent may hold
    /// it.
    [[nodiscard]] std::size_t capacity_after_fork() const noexcept { return capacity_.load(); }
    static void check_capacity(std::size_t capacity, const char* origin) {
        if (capacity == 0) {
            throw std::invalid_argument(std::string{origin} + ": capacity must be at least 1, not 0");
        }
    }
    void set_capacity(std::size_t capacity, const char* origin) {
        check_capacity(capacity, origin);
        capacity_.store(capacity);
    }

    // Returns false if there is no room. Moves from `x` only if there is room and memory.
    bool try_push(deque_end where, T& x) {
        if (is_full()) {
            return false;
        }
        std::list<T> one;
        one.push_back(std::move(x));
        {
            const lock_guard lock{mutex_};
            if (has_room()) {
                elements_.splice(where == deque_end::first ? elements_.begin() : elements_.end(), one);
                return true;
            }
        }
        move_back(x, one.front());  // other producers were faster
        return false;
    }
    std::optional<T> try_pop(deque_end where) {
        std::list<T> one;
        {
            const lock_guard lock{mutex_};
            if (elements_.empty()) {
                return std::nullopt;
            }
            one.splice(one.end(), elements_,
                       where == deque_end::first ? elements_.begin() : std::prev(elements_.end()));
        }
        return std::move(one.front());
    }

    // Removes the first match from that end; false: there is none.
    bool try_remove(deque_end from, function_ref<bool(const T&)> doomed) {
        std::list<T> removed;
        const lock_guard lock{mutex_};
        walk(from, elements_, [&](auto at) {
            mutex_.assert_held();
            const bool found = doomed(*at);
            if (found) {
                removed.splice(removed.end(), elements_, at);
            }
            return !found;
        });
        return !removed.empty();
    }
    // Takes out every match, in order from that end.
    std::vector<T> extract_if(deque_end from, function_ref<bool(const T&)> wanted) {
        std::vector<T> out;
        std::list<T> removed;
        {
            const lock_guard lock{mutex_};
            std::vector<typename std::list<T>::iterator> chosen;
            walk(from, elements_, [&](auto at) {
                if (wanted(*at)) {
                    chosen.push_back(at);
                }
                return true;
            });
            out.reserve(chosen.size());
            // Nothing has moved so far, so a throw above leaves the list as it was.
            for (const auto at : chosen) {
                removed.splice(removed.end(), elements_, at);
            }
        }
        for (T& x : removed) {
            out.push_back(std::move(x));
        }
        return out;
    }

    // Calls `visitor` on each element from that end, until it returns false.
    void visit(deque_end from, function_ref<bool(const T&)> visitor) const {
        const lock_guard lock{mutex_};
        walk(from, elements_, [&](auto at) { return visitor(*at); });
    }
    bool peek(deque_end where, function_ref<void(const T&)> visitor) const {
        bool seen = false;
        visit(where, [&](const T& x) {
            visitor(x);
            seen = true;
            return false;
        });
        return seen;
    }

private:
    [[nodiscard]] bool has_room() const SPOOL_REQUIRES(mutex_) { return elements_.size() < capacity_.load(); }
    // An unlimited deque needs no lock here.
    [[nodiscard]] bool is_full() const {
        if (capacity_.load() == unlimited) {
            return false;
        }
        const lock_guard lock{mutex_};
        return !has_room();
    }

    template <class List, class F>
    static void walk(deque_end from, List& elements, F f) {
        if (from == deque_end::first) {
            for (auto at = elements.begin(); at != elements.end() && f(at); ++at) {}
        } else {
            for (auto at = elements.end(); at != elements.begin() && f(std::prev(at)); --at) {}
        }
    }

    static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

    // Pair (S) of producers that wait for a larger capacity.
    std::atomic<std::size_t> capacity_{unlimited};
    // Guards the elements; pair (M) of the deque's waits.
    mutable mutex mutex_;
    std::list<T> elements_ SPOOL_GUARDED_BY(mutex_);
};

}  // namespace spool::inline v1::detail
