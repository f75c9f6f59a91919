// Allocations that fail on request. Replaces operator new, so only one source file of a separate
// test program may include it.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

namespace test {

enum class failing { never, once, from_then_on };

struct failure_plan {
    failing mode = failing::never;
    int allocations_before = 0;
    int failures = 0;
};
inline thread_local failure_plan plan;

inline bool fails_now() noexcept {
    if (plan.mode == failing::never || plan.allocations_before-- > 0) {
        return false;
    }
    ++plan.failures;
    plan.allocations_before = 0;
    if (plan.mode == failing::once) {
        plan.mode = failing::never;
    }
    return true;
}

// Calls `f()` on this thread. `n` allocations succeed, then the next one fails, or all from then
// on. Returns true if an allocation failed.
template <class F>
bool with_failing(failing mode, int n, F f) {
    struct reset {
        ~reset() { plan = {}; }
    };
    const reset at_end;
    plan = {mode, n, 0};
    f();
    plan.mode = failing::never;
    return plan.failures > 0;
}

}  // namespace test

// Not inlined: otherwise GCC warns that free() releases memory of another operator new.
[[gnu::noinline]] void* operator new(std::size_t size) {
    void* const memory = test::fails_now() ? nullptr : std::malloc(size == 0 ? 1 : size);
    if (memory == nullptr) {
        throw std::bad_alloc{};
    }
    return memory;
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return test::fails_now() ? nullptr : std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
    const auto step = static_cast<std::size_t>(alignment);
    void* const memory =
        test::fails_now() ? nullptr : std::aligned_alloc(step, (size + step - 1) / step * step);
    if (memory == nullptr) {
        throw std::bad_alloc{};
    }
    return memory;
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}
