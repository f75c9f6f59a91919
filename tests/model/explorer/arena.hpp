// arena: the memory for the objects of a model. An execution never reuses freed memory, so a
// dangling pointer still points at the freed object. Every object has the same address in every
// execution. Each thread has its own part, so that addresses do not depend on the schedule.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "model/explorer/knowledge.hpp"

namespace model {

class arena {
public:
    void reset() noexcept;
    [[nodiscard]] void* allocate(unsigned thread, std::size_t size, std::size_t alignment);
    /// False: the block was already freed.
    [[nodiscard]] bool free(void* at) noexcept;
    [[nodiscard]] bool holds(const void* at) const noexcept {
        const auto* const byte = static_cast<const std::byte*>(at);
        return byte >= bytes_.data() && byte < bytes_.data() + bytes_.size();
    }
    /// How many blocks have not been freed.
    [[nodiscard]] std::size_t live() const noexcept { return live_; }

private:
    static constexpr std::size_t part = std::size_t{256} * 1024;
    struct alignas(16) header {
        std::uint64_t state;
    };

    alignas(4096) std::array<std::byte, part * most_threads> bytes_{};
    std::array<std::size_t, most_threads> used_{};
    std::size_t live_ = 0;
};

/// While `from` is set, operator new allocates from that arena, on behalf of `thread`.
struct allocation_mode {
    arena* from = nullptr;
    unsigned thread = 0;
    const char* fault = nullptr;  // the fault that operator delete found
};
extern constinit allocation_mode allocating;

}  // namespace model
