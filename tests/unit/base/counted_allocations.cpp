#include "unit/base/counted_allocations.hpp"

#include <cstdlib>
#include <new>

namespace {

constinit thread_local std::size_t allocated = 0;
constinit thread_local std::size_t given_back = 0;

void* allocate(std::size_t size, std::size_t alignment) {
    ++allocated;
    // aligned_alloc requires a multiple of the alignment.
    const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
    void* memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
    if (memory == nullptr) {
        throw std::bad_alloc{};
    }
    return memory;
}

void give_back(void* memory) noexcept {
    if (memory != nullptr) {
        ++given_back;
        std::free(memory);
    }
}

}  // namespace

std::size_t test::allocations() noexcept {
    return allocated;
}

std::size_t test::deallocations() noexcept {
    return given_back;
}

// The other forms call these.
void* operator new(std::size_t size) {
    return allocate(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
    give_back(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    give_back(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
    give_back(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    give_back(memory);
}
