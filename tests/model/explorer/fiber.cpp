#include "model/explorer/fiber.hpp"

#include <cstdint>

namespace model {

fiber::fiber() : stack_(std::make_unique<std::byte[]>(stack_size)) {}

void fiber::prepare(void (*entry)(void*), void* argument) noexcept {
    entry_ = entry;
    argument_ = argument;
    entered_ = false;
}

// Enters a fiber by ucontext the first time, later by longjmp, which makes no system call.
void fiber::change(fiber& from, fiber& to) noexcept {
    if (_setjmp(from.place_) != 0) {
        return;
    }
    if (to.entered_) {
        _longjmp(to.place_, 1);
    }
    to.entered_ = true;
    getcontext(&to.first_);
    to.first_.uc_stack.ss_sp = to.stack_.get();
    to.first_.uc_stack.ss_size = stack_size;
    to.first_.uc_link = nullptr;
    const auto self = reinterpret_cast<std::uintptr_t>(&to);
    makecontext(&to.first_, reinterpret_cast<void (*)()>(&fiber::enter), 2,
                static_cast<unsigned>(self >> 32U), static_cast<unsigned>(self));
    setcontext(&to.first_);
}

void fiber::enter(unsigned high, unsigned low) noexcept {
    auto* const self = reinterpret_cast<fiber*>(std::uintptr_t{high} << 32U | low);
    self->entry_(self->argument_);
}

}  // namespace model
