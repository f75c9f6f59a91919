// fiber: a thread of a model, as a stack of its own on the one thread of the program.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <memory>

#include <ucontext.h>

namespace model {

class fiber {
public:
    fiber();
    fiber(const fiber&) = delete;
    fiber& operator=(const fiber&) = delete;

    /// Its stack as it is now is forgotten; switched to, it calls `entry(argument)`, which never returns.
    void prepare(void (*entry)(void*), void* argument) noexcept;
    /// Leaves the place `from` and goes on where `to` left.
    static void change(fiber& from, fiber& to) noexcept;

private:
    static constexpr std::size_t stack_size = std::size_t{128} * 1024;
    static void enter(unsigned high, unsigned low) noexcept;

    std::unique_ptr<std::byte[]> stack_;
    ucontext_t first_{};
    std::jmp_buf place_{};
    bool entered_ = true;  // also of the program's own stack, which is no fiber's
    void (*entry_)(void*) = nullptr;
    void* argument_ = nullptr;
};

}  // namespace model
