// stealing_turns: decides where the owner of a stealing_deque looks first.
#pragma once

namespace spool::inline v1::detail {

/// Now and then the owner looks elsewhere than at its newest element. Otherwise other consumers'
/// elements, and the owner's oldest, could wait forever while the owner adds new ones. The owner
/// takes the oldest rarely: old elements tend to be large, and taking one early makes the deque
/// longer.
class stealing_turns {
public:
    enum class look { newest, inbox, oldest };
    static constexpr unsigned inbox_every = 61;
    static constexpr unsigned oldest_every = 16;  // in multiples of inbox_every

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
