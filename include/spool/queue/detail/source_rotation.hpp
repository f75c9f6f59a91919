// source_rotation: decides where the owner of a stealing_deque pops first.
#pragma once

namespace spool::inline v1::detail {

enum class pop_source { newest, inbox, oldest };

/// Usually the owner pops its newest element. Now and then it tries another source first. Otherwise
/// other consumers' elements, and the owner's oldest, could wait forever while the owner adds new
/// ones. The owner takes the oldest rarely: old elements tend to be large, and taking one early
/// makes the deque longer.
class source_rotation {
public:
    static constexpr unsigned inbox_every = 61;
    static constexpr unsigned oldest_every = 16;  // in multiples of inbox_every

    [[nodiscard]] pop_source next() noexcept {
        if (--until_inbox_ != 0) [[likely]] {
            return pop_source::newest;
        }
        until_inbox_ = inbox_every;
        if (--until_oldest_ != 0) {
            return pop_source::inbox;
        }
        until_oldest_ = oldest_every;
        return pop_source::oldest;
    }

private:
    unsigned until_inbox_ = inbox_every;
    unsigned until_oldest_ = oldest_every;
};

}  // namespace spool::inline v1::detail
