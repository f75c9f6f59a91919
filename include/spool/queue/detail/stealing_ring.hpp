// The ring that holds a stealing_deque's elements, and the word that says which is the oldest.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "spool/queue/detail/pages.hpp"

namespace spool::inline v1::detail {

/// The word top_:
///
///     | 63 ............ 1 | 0      |
///     | number of oldest  | frozen |
struct stealing_top {
    std::uint64_t bits = 0;

    [[nodiscard]] static stealing_top at(std::uint64_t oldest) noexcept { return {oldest << 1U}; }
    [[nodiscard]] std::uint64_t oldest() const noexcept { return bits >> 1U; }
    [[nodiscard]] bool is_frozen() const noexcept { return (bits & 1U) != 0; }
    [[nodiscard]] stealing_top frozen() const noexcept { return {bits | 1U}; }
    bool operator==(const stealing_top&) const = default;
};

/// A ring of slots for pointers to nodes. A large ring lies in pages of its own, so that it can
/// give its memory back.
template <class Node, class Atomics>
class stealing_ring {
    using slot = typename Atomics::template atomic<Node*>;

public:
    // Precondition: `size` is a power of two.
    explicit stealing_ring(std::size_t size) : mask_(size - 1), slots_(make(size)) {}
    stealing_ring(const stealing_ring&) = delete;
    stealing_ring& operator=(const stealing_ring&) = delete;
    ~stealing_ring() {
        if (is_in_pages()) {
            free_pages(slots_, size() * sizeof(slot));
        } else {
            delete[] slots_;
        }
    }
    [[nodiscard]] std::size_t size() const noexcept { return mask_ + 1; }
    [[nodiscard]] slot& at(std::uint64_t i) const noexcept { return slots_[i & mask_]; }

    [[nodiscard]] bool is_in_pages() const noexcept { return is_in_pages(size()); }
    /// Nulls every slot of this ring and of the older ones. Rings in pages give their memory back
    /// instead: their slots read as null, or keep their values where the system cannot do it (see
    /// discard_pages).
    void discard() noexcept {
        for (stealing_ring* r = this; r != nullptr; r = r->older.get()) {
            if (r->is_in_pages()) {
                discard_pages(r->slots_, r->size() * sizeof(slot));
                continue;
            }
            for (std::size_t i = 0; i < r->size(); ++i) {
                // relaxed: a thief that reads it fails at T5
                r->slots_[i].store(nullptr, std::memory_order_relaxed);
            }
        }
    }

    std::unique_ptr<stealing_ring> older{};  // see stealing_deque, (G)

private:
    static bool is_in_pages(std::size_t size) noexcept {
        return size * sizeof(slot) >= std::size_t{16} * 1024 && std::is_trivially_destructible_v<slot>;
    }
    static slot* make(std::size_t size) {
        if (!is_in_pages(size)) {
            return new slot[size]{};
        }
        auto* const slots = static_cast<slot*>(allocate_pages(size * sizeof(slot)));
        std::uninitialized_value_construct_n(slots, size);
        return slots;
    }

    std::size_t mask_;
    slot* slots_;
};

}  // namespace spool::inline v1::detail
