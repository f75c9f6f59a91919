// Memory that runs out once, at the n-th allocation of the whole process. Replaces operator new, so
// only one source file of a program may include it.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

#include "fault/support/every_point.hpp"

namespace test {

inline nth_call allocation;

inline void* allocate_or_fail(std::size_t size, std::size_t alignment) noexcept {
    if (allocation.strikes()) {
        return nullptr;
    }
    return alignment == 0 ? std::malloc(size == 0 ? 1 : size)
                          : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

}  // namespace test

// Not inlined: else GCC warns of a free() of memory that it takes for that of another operator new.
[[gnu::noinline]] void* operator new(std::size_t size) {
    void* const memory = test::allocate_or_fail(size, 0);
    if (memory == nullptr) {
        throw std::bad_alloc{};
    }
    return memory;
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
    void* const memory = test::allocate_or_fail(size, static_cast<std::size_t>(alignment));
    if (memory == nullptr) {
        throw std::bad_alloc{};
    }
    return memory;
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return test::allocate_or_fail(size, 0);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}
