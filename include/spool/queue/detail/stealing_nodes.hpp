// stealing_nodes: the nodes that hold the elements of a deque, and the owner's store of spare
// nodes.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "spool/detail/atomics.hpp"
#include "spool/detail/cache_line.hpp"
#include "spool/detail/thread_sanitizer.hpp"
#include "spool/queue/detail/element_move.hpp"

namespace spool::inline v1::detail {

/// A node for a task fills one cache line. Small nodes are not aligned to cache lines.
template <class T>
inline constexpr std::size_t stealing_node_alignment =
    std::max(alignof(T), sizeof(T) + sizeof(void*) > cache_line / 2 ? cache_line : alignof(void*));

/// Holds an element from make() to unpack(). In between the deque's protocol decides which thread
/// owns the node.
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

    /// Destroys the element and returns the node.
    stealing_node* destroy_value() noexcept {
        std::destroy_at(&value);
        return this;
    }

    union {
        T value;
    };
    // Links spare nodes, or the nodes that extract_if() took out; see stealing_deque::mark_wanted.
    stealing_node* next;
};

/// Spare nodes of one deque, so that in the long run a push allocates nothing. The owner keeps up
/// to max_spares of the nodes that it emptied. Thieves hand back up to about max_spares of the
/// nodes that they emptied.
///
///     spare_      the owner's list, which needs no atomic operations
///     returned_   a stack: thieves push (R1), the owner takes all of it with one exchange (R2).
///                 No thread pops a single node, so ABA does no harm: R1 links whatever is on top.
///
/// (R) R1 is a release, R2 an acquire: the thief moves the element out before the owner constructs
/// another in the same node. The owner is the deque's owner; pair (O) there hands over the owner's
/// members.
template <class T, class Atomics = std_atomics>
class stealing_nodes {
public:
    using node = stealing_node<T>;
    static constexpr std::ptrdiff_t max_spares = 256;

    stealing_nodes() = default;
    stealing_nodes(const stealing_nodes&) = delete;
    stealing_nodes& operator=(const stealing_nodes&) = delete;
    ~stealing_nodes() {
        delete_list(spare_);
        delete_list(returned_.load());
    }

    /// Owner: returns a node that holds `x`. \throws std::bad_alloc, then `x` is untouched
    [[nodiscard]] node* make(T& x) {
        node* const n = take_spare();
        std::construct_at(&n->value, std::move(x));
        return n;
    }
    /// Owner: likewise without a call. Precondition: has_spare() and can_move_without_calls(x).
    [[nodiscard]] bool has_spare() const noexcept { return spare_ != nullptr; }
    [[nodiscard]] node* make_from_spare(T& x) noexcept {
        ++spare_room_;
        node* const n = std::exchange(spare_, spare_->next);
        std::construct_at(&n->value, move_without_calls(x));
        return n;
    }
    /// Owner: takes back an empty node.
    void recycle(node* n) noexcept {
        if (spare_room_ <= 0) [[unlikely]] {  // thieves may have handed back a few too many
            delete_node(n);
            return;
        }
        --spare_room_;
        n->next = std::exchange(spare_, n);
    }
    /// Owner: whether trim() would free any node.
    [[nodiscard]] bool has_surplus() const noexcept {
        // relaxed, hint: R2 takes the nodes
        return spare_ != nullptr || returned_.load(std::memory_order_relaxed) != nullptr;
    }
    /// Owner: frees all spare nodes.
    void trim() noexcept {
        spare_room_ = max_spares;
        delete_list(std::exchange(spare_, nullptr));
        // R2, acquire: pairs with R1 in return_from_thief() of every node in the stack
        delete_list(returned_.exchange(nullptr, std::memory_order_acquire));
        returned_count_.store(0, std::memory_order_relaxed);  // relaxed, hint
    }
    /// Any thread: takes back an empty node.
    void return_from_thief(node* n) noexcept {
        // relaxed, hint: off by at most the number of threads
        if (returned_count_.load(std::memory_order_relaxed) >= max_spares) {
            delete n;
            return;
        }
        hand_over_in_library(this);
        n->next = returned_.load(std::memory_order_relaxed);  // relaxed, hint: R1 re-checks it
        // R1, release: pairs with R2 in take_returned() and trim(); publishes the empty node
        while (!returned_.compare_exchange_weak(n->next, n, std::memory_order_release,
                                                std::memory_order_relaxed)) {  // relaxed: retries
        }
        returned_count_.fetch_add(1, std::memory_order_relaxed);  // relaxed, hint
    }

private:
    node* take_spare() {
        if (spare_ == nullptr) [[unlikely]] {
            return take_returned();
        }
        ++spare_room_;
        return std::exchange(spare_, spare_->next);
    }
    // Continues take_spare() when the owner's list is empty.
    [[gnu::noinline]] node* take_returned() {
        spare_room_ = max_spares;
        // relaxed, hint: R2 takes the nodes
        if (returned_.load(std::memory_order_relaxed) == nullptr) {
            // The node goes from thread to thread, and tasks run inside it.
            const unwatched_allocation ignored;
            return new node;
        }
        receive_in_library(this);
        // R2, acquire: pairs with R1 in return_from_thief() of every node in the stack
        spare_ = returned_.exchange(nullptr, std::memory_order_acquire);
        // relaxed, hint
        spare_room_ = max_spares - returned_count_.exchange(0, std::memory_order_relaxed);
        return take_spare();
    }
    [[gnu::noinline]] static void delete_node(node* n) noexcept { delete n; }
    static void delete_list(node* list) noexcept {
        while (list != nullptr) {
            delete std::exchange(list, list->next);
        }
    }

    node* spare_ = nullptr;  // owner only
    // Owner only; about how many more spare nodes it may keep.
    std::ptrdiff_t spare_room_ = max_spares;
    // Thieves push, the owner empties it; publishes its nodes.
    alignas(cache_line) typename Atomics::template atomic<node*> returned_{nullptr};
    // An estimate; publishes nothing.
    typename Atomics::template atomic<std::ptrdiff_t> returned_count_{0};
};

}  // namespace spool::inline v1::detail
