// task_id: identifies a task.
#pragma once

#include <cstdint>

#include "spool/base/export.hpp"

namespace spool::inline v1 {

/// Identifies one task for the lifetime of the process. Zero means no task.
using task_id = std::uint64_t;

namespace detail {

// Each thread reserves a block of ids at a time, so an id costs no shared write per task.
class SPOOL_API id_block {
public:
    [[nodiscard]] static task_id next() noexcept {
        if (local_.next_ == local_.end_) [[unlikely]] {
            reserve();
        }
        return local_.next_++;
    }
    static void reset() noexcept { local_ = {}; }

private:
    static void reserve() noexcept;
    // Trivially destroyed, so destructors of other thread_locals can still use it.
    static constinit thread_local id_block local_;

    task_id next_ = 0;
    task_id end_ = 0;
};

inline task_id next_task_id() noexcept {
    return id_block::next();
}

/// The smallest id that this process can have issued: 0, unless the process was forked. In a forked
/// child, smaller ids are the parent's. Changes only while the process has a single thread.
extern SPOOL_API task_id first_own_id;
/// Discards the current block and sets first_own_id. Call it in a forked child, on its only thread.
void restart_ids() noexcept;

}  // namespace detail
}  // namespace spool::inline v1
