#include <atomic>

#include "spool/base/task.hpp"

namespace spool::inline v1::detail {
namespace {

// Each thread takes a block at a time, so that ids cost no shared write per task.
constexpr task_id block_size = 4096;

constinit std::atomic<task_id> next_block{1};  // first id of the next unused block; publishes nothing

struct id_block {
    task_id next = 0;
    task_id end = 0;
};
constinit thread_local id_block block;  // trivially destroyed: usable in destructors of other thread_locals

}  // namespace

constinit task_id first_own_id = 0;

void begin_new_ids() noexcept {
    block = {};                                                 // the parent goes on with this one
    first_own_id = next_block.load(std::memory_order_relaxed);  // relaxed, owner: there is one thread
}

task_id next_task_id() noexcept {
    if (block.next == block.end) {
        // relaxed, statistic: only uniqueness matters, which the read-modify-write gives by itself
        block.next = next_block.fetch_add(block_size, std::memory_order_relaxed);
        block.end = block.next + block_size;
    }
    return block.next++;
}

}  // namespace spool::inline v1::detail
