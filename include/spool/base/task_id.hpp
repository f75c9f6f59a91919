// task_id: the name of a task.
#pragma once

#include <cstdint>

#include "spool/base/export.hpp"

namespace spool::inline v1 {

/// Names one task for as long as the process lives. Zero is no task.
using task_id = std::uint64_t;

namespace detail {

// Each thread takes a block of ids at a time, so that they cost no shared write per task.
class SPOOL_API id_block {
public:
    [[nodiscard]] static task_id next() noexcept {
        if (mine_.next_ == mine_.end_) [[unlikely]] {
            renew();
        }
        return mine_.next_++;
    }
    static void forget() noexcept { mine_ = {}; }

private:
    static void renew() noexcept;
    static constinit thread_local id_block
        mine_;  // trivially destroyed: usable in destructors of other thread_locals

    task_id next_ = 0;
    task_id end_ = 0;
};

inline task_id next_task_id() noexcept {
    return id_block::next();
}

/// The smallest id that this process can have given out itself: 0, unless it was forked; then ids below it are the parent's. Changed
/// only while the process has a single thread.
extern SPOOL_API task_id first_own_id;
/// In a forked child, on its only thread.
SPOOL_API void begin_new_ids() noexcept;

}  // namespace detail
}  // namespace spool::inline v1
