// timer_ref: refers to what lies in a timer queue, a timer or a carried_task, in one word. Null if
// default-constructed. It gives the wheel and the heap what they need of either: a due time, and
// two words for links.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "schedule/carried_task.hpp"
#include "spool/schedule/detail/timer.hpp"

namespace spool::inline v1::detail {

class timer_ref {
public:
    timer_ref() noexcept = default;
    timer_ref(timer& t) noexcept : word_(reinterpret_cast<std::uintptr_t>(&t)) {}
    timer_ref(carried_task& t) noexcept : word_(reinterpret_cast<std::uintptr_t>(&t) | carried_mark) {}

    explicit operator bool() const noexcept { return word_ != 0; }
    bool operator==(const timer_ref&) const noexcept = default;

    /// Each is null if the reference is to the other.
    [[nodiscard]] timer* as_timer() const noexcept { return is_carried() ? nullptr : &state(); }
    [[nodiscard]] carried_task* as_carried() const noexcept { return is_carried() ? &carried() : nullptr; }

    [[nodiscard]] due_time due() const noexcept { return is_carried() ? carried().due : state().stamp; }

    /// The neighbours in a bucket of the wheel. A timer in the heap has an index instead.
    [[nodiscard]] timer_ref before() const noexcept { return timer_ref{first_link()}; }
    [[nodiscard]] timer_ref after() const noexcept { return timer_ref{second_link()}; }
    void set_before(timer_ref to) const noexcept { first_link() = to.word_; }
    void set_after(timer_ref to) const noexcept { second_link() = to.word_; }
    [[nodiscard]] std::size_t index() const noexcept { return first_link(); }
    void set_index(std::size_t i) const noexcept { first_link() = i; }

    /// The task, for the owner of what was taken out of the queue. Ends the life of a carried_task.
    [[nodiscard]] task take_task() const noexcept {
        if (!is_carried()) {
            return timer_runner{state()};
        }
        task work = std::move(carried().work);
        delete &carried();
        return work;
    }

private:
    static constexpr std::uintptr_t carried_mark = 1;

    explicit timer_ref(std::uintptr_t word) noexcept : word_(word) {}

    [[nodiscard]] bool is_carried() const noexcept { return (word_ & carried_mark) != 0; }
    [[nodiscard]] timer& state() const noexcept { return *reinterpret_cast<timer*>(word_); }
    [[nodiscard]] carried_task& carried() const noexcept {
        return *reinterpret_cast<carried_task*>(word_ - carried_mark);
    }
    [[nodiscard]] std::uintptr_t& first_link() const noexcept {
        return is_carried() ? carried().before : state().queue_word();
    }
    [[nodiscard]] std::uintptr_t& second_link() const noexcept {
        return is_carried() ? carried().after : state().after_;
    }

    std::uintptr_t word_ = 0;
};

}  // namespace spool::inline v1::detail
