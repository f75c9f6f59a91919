// Where a stealing_deque has its elements, and which is the oldest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

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

/// Slots for pointers to nodes, in a ring.
template <class Node, class Atomics>
class stealing_ring {
    using slot = typename Atomics::template atomic<Node*>;

public:
    explicit stealing_ring(std::size_t size)  // a power of two
        : mask_(size - 1), slots_(std::make_unique<slot[]>(size)) {}
    [[nodiscard]] std::size_t size() const noexcept { return mask_ + 1; }
    [[nodiscard]] slot& at(std::uint64_t i) const noexcept { return slots_[i & mask_]; }

    std::unique_ptr<stealing_ring> older{};  // see stealing_deque, (G)

private:
    std::size_t mask_;
    std::unique_ptr<slot[]> slots_;
};

}  // namespace spool::inline v1::detail
