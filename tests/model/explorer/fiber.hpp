// fiber: a thread of a model. Each fiber has its own stack; all run on the program's only thread.
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

    /// Discards what is on the stack. The next switch to the fiber calls `entry(argument)`, which
    /// must never return.
    void prepare(void (*entry)(void*), void* argument) noexcept;
    /// Suspends `from` and resumes `to`.
    static void change(fiber& from, fiber& to) noexcept;

private:
    static constexpr std::size_t stack_size = std::size_t{128} * 1024;
    static void enter(unsigned high, unsigned low) noexcept;

    std::unique_ptr<std::byte[]> stack_;
    ucontext_t first_{};
    std::jmp_buf place_{};
    bool entered_ = true;  // also for the program's own stack, which needs no first entry
    void (*entry_)(void*) = nullptr;
    void* argument_ = nullptr;
};

}  // namespace model
