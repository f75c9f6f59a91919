// stealing_nodes: the nodes that elements travel in, and the store from which the owner of a deque takes them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "spool/base/cache_line.hpp"
#include "spool/base/thread_sanitizer.hpp"
#include "spool/queue/detail/moved_from.hpp"
#include "spool/sync/atomics.hpp"

namespace spool::inline v1::detail {

/// A node for a task fills one cache line; small ones are packed as they come.
template <class T>
inline constexpr std::size_t stealing_node_alignment =
    std::max(alignof(T), sizeof(T) + sizeof(void*) > cache_line / 2 ? cache_line : alignof(void*));

/// Holds an element from make() to unpack(); in between it belongs to whoever the deque says.
template <class T>
struct alignas(stealing_node_alignment<T>) stealing_node {
    static_assert(std::is_nothrow_move_constructible_v<T>, "an element that is taken cannot be put back");
    static_assert(std::is_nothrow_destructible_v<T>);

    stealing_node() noexcept {}
    ~stealing_node() {}
    stealing_node(const stealing_node&) = delete;
    stealing_node& operator=(const stealing_node&) = delete;

    std::optional<T> unpack() noexcept {
        std::optional<T> x;
        unpack([&x](T&& element) { x.emplace(std::move(element)); });
        return x;
    }
    /// `take` moves the element out.
    template <class Take>
    void unpack(Take take) noexcept {
        take(std::move(value));
        destroy_moved_from(value);
    }

    /// Without its element.
    stealing_node* empty() noexcept {
        std::destroy_at(&value);
        return this;
    }

    union {
        T value;
    };
    stealing_node*
        next;  // in a list of spare ones, or of those that extract_if() took out; see stealing_deque::choose
};

/// Spare nodes of one deque, so that in the long run pushing allocates nothing: the owner keeps up to `most` of those that it
/// emptied, and thieves hand back up to about `most` of those that they did.
///
///     spare_      the owner's own list: taken from and added to without any atomic operation
///     returned_   a stack: thieves push (R1), the owner takes it as a whole (R2), so no node can leave it and come
///                 back between a thief's look and its compare-exchange
///
/// (R) R1 is a release, R2 an acquire: the thief has moved the element out before the owner builds another in its place.
/// The owner changes only along with the deque's, and what it owns is handed over by the pair (O) there.
template <class T, class Atomics = std_atomics>
class stealing_nodes {
public:
    using node = stealing_node<T>;
    static constexpr std::ptrdiff_t most = 256;

    stealing_nodes() = default;
    stealing_nodes(const stealing_nodes&) = delete;
    stealing_nodes& operator=(const stealing_nodes&) = delete;
    ~stealing_nodes() {
        destroy(spare_);
        destroy(returned_.load());
    }

    /// Owner: a node with `x` in it. \throws std::bad_alloc, then `x` is untouched
    [[nodiscard]] node* make(T& x) {
        node* const n = take_spare();
        std::construct_at(&n->value, std::move(x));
        return n;
    }
    /// Owner: the same for one that moves quickly, where there is a spare node.
    [[nodiscard]] bool has_spare() const noexcept { return spare_ != nullptr; }
    [[nodiscard]] node* make_from_spare(T& x) noexcept {
        ++room_;
        node* const n = std::exchange(spare_, spare_->next);
        std::construct_at(&n->value, quick_move(x));
        return n;
    }
    /// Owner: takes back a node that is empty.
    void recycle(node* n) noexcept {
        if (room_ <= 0) [[unlikely]] {  // thieves may have handed back a few too many
            discard(n);
            return;
        }
        --room_;
        n->next = std::exchange(spare_, n);
    }
    /// Owner: whether trim() would free some.
    [[nodiscard]] bool has_surplus() const noexcept {
        // relaxed, hint: R2 takes what is there
        return spare_ != nullptr || returned_.load(std::memory_order_relaxed) != nullptr;
    }
    /// Owner: keeps none.
    void trim() noexcept {
        room_ = most;
        destroy(std::exchange(spare_, nullptr));
        // R2, acquire: pairs with R1 in hand_back() of every node in the stack
        destroy(returned_.exchange(nullptr, std::memory_order_acquire));
        returned_count_.store(0, std::memory_order_relaxed);  // relaxed, hint
    }
    /// Anybody: takes back a node that is empty.
    void hand_back(node* n) noexcept {
        // relaxed, hint: a few too many or too few, never more than there are threads
        if (returned_count_.load(std::memory_order_relaxed) >= most) {
            delete n;
            return;
        }
        hand_over_in_library(this);
        n->next = returned_.load(std::memory_order_relaxed);  // relaxed, hint: R1 compares it again
        // R1, release: pairs with R2 in take_returned(); hands over the empty node
        while (!returned_.compare_exchange_weak(n->next, n, std::memory_order_release,
                                                std::memory_order_relaxed)) {  // relaxed: tries again
        }
        returned_count_.fetch_add(1, std::memory_order_relaxed);  // relaxed, hint
    }

private:
    node* take_spare() {
        if (spare_ == nullptr) [[unlikely]] {
            return take_returned();
        }
        ++room_;
        return std::exchange(spare_, spare_->next);
    }
    // The same when there is none left.
    [[gnu::noinline]] node* take_returned() {
        room_ = most;
        // relaxed, hint: R2 takes what is there
        if (returned_.load(std::memory_order_relaxed) == nullptr) {
            const unwatched_allocation quiet;  // it goes from thread to thread, and elements are run in it
            return new node;
        }
        receive_in_library(this);
        // R2, acquire: pairs with R1 in hand_back() of every node in the stack
        spare_ = returned_.exchange(nullptr, std::memory_order_acquire);
        room_ = most - returned_count_.exchange(0, std::memory_order_relaxed);  // relaxed, hint
        return take_spare();
    }
    [[gnu::noinline]] static void discard(node* n) noexcept { delete n; }
    static void destroy(node* list) noexcept {
        while (list != nullptr) {
            delete std::exchange(list, list->next);
        }
    }

    node* spare_ = nullptr;       // owner only
    std::ptrdiff_t room_ = most;  // owner only; for about how many more
    // Written by thieves, emptied by the owner; publishes the nodes in it.
    alignas(cache_line) typename Atomics::template atomic<node*> returned_{nullptr};
    typename Atomics::template atomic<std::ptrdiff_t> returned_count_{
        0};  // about how many; publishes nothing
};

}  // namespace spool::inline v1::detail
