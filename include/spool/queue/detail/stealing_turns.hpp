// stealing_turns: where the owner of a stealing_deque looks first.
#pragma once

namespace spool::inline v1::detail {

/// Now and then the owner looks elsewhere than at its newest element. Else the others' elements and
/// its own oldest might wait for ever while it makes new ones. The oldest come seldom: they tend to
/// be large, and each that is taken before its time makes the deque longer.
class stealing_turns {
public:
    enum class look { newest, inbox, oldest };
    static constexpr unsigned inbox_every = 61;
    static constexpr unsigned oldest_every = 16;  // times that

    [[nodiscard]] look next() noexcept {
        if (--turns_left_ != 0) [[likely]] {
            return look::newest;
        }
        turns_left_ = inbox_every;
        if (--inbox_turns_left_ != 0) {
            return look::inbox;
        }
        inbox_turns_left_ = oldest_every;
        return look::oldest;
    }

private:
    unsigned turns_left_ = inbox_every;
    unsigned inbox_turns_left_ = oldest_every;
};

}  // namespace spool::inline v1::detail
