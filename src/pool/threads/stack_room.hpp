// stack_room: whether a thread has enough stack left to run a task inside its current task.
//
//     top                                                  low end, guard page
//    +-------------------------------------+-----------------------------------+
//    | a nested task may begin here        | reserve                           |
//    +-------------------------------------+-----------------------------------+
//
// The reserve belongs to the task that begins last: its own frames, and the library's below them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace spool::inline v1 {

/// The bounds of one thread's stack. Unknown if default-constructed, or if the system does not tell
/// them.
class stack_room {
public:
    /// The limit on nested tasks where the stack's bounds are of no use: the system does not tell
    /// them, or the task runs on a stack of the user's own (coroutine, alternate signal stack).
    static constexpr std::uint32_t deepest_on_unknown_stack = 256;

    constexpr stack_room() noexcept = default;
    constexpr stack_room(std::uintptr_t low, std::uintptr_t high) noexcept
        : low_(low), floor_(low + reserve_of(high - low)), high_(high) {}
    /// The stack below the caller's frame. Asks the system: call it once per thread, early.
    [[nodiscard]] static stack_room of_this_thread() noexcept;

    /// Whether a nested task may begin here. `depth` is the number of tasks that nest already.
    [[nodiscard]] bool has_room(const std::atomic<std::uint32_t>& depth) const noexcept {
        const std::uintptr_t here = address_here();
        if (here - floor_ < high_ - floor_) [[likely]] {
            return true;
        }
        return !contains(here) && depth.load() < deepest_on_unknown_stack;
    }
    /// Whether three quarters of the reserve are used up as well.
    [[nodiscard]] bool is_exhausted() const noexcept {
        const std::uintptr_t here = address_here();
        return contains(here) && here - low_ < (floor_ - low_) / 4;
    }

    /// A quarter of the stack, at least 64 KiB; half of a stack that is smaller than 128 KiB.
    [[nodiscard]] static constexpr std::size_t reserve_of(std::size_t size) noexcept {
        constexpr std::size_t least = std::size_t{64} * 1024;
        return std::max(size / 4, std::min(least, size / 2));
    }

private:
    [[nodiscard]] bool contains(std::uintptr_t here) const noexcept { return here - low_ < high_ - low_; }
    // An address on the real stack, also where a sanitizer keeps local variables elsewhere.
    [[nodiscard]] static std::uintptr_t address_here() noexcept {
#if defined(__GNUC__)
        return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
#else
        const volatile char here = 0;
        return reinterpret_cast<std::uintptr_t>(&here);
#endif
    }

    std::uintptr_t low_ = 0;
    std::uintptr_t floor_ = 0;  // upper end of the reserve
    std::uintptr_t high_ = 0;
};

}  // namespace spool::inline v1
