#include "spool/base/task_id.hpp"

#include <atomic>

namespace spool::inline v1::detail {
namespace {

constexpr task_id block_size = 4096;

// The first id of the next unused block; publishes nothing.
constinit std::atomic<task_id> next_block{1};

}  // namespace

constinit thread_local id_block id_block::local_;

constinit task_id first_own_id = 0;

void restart_ids() noexcept {
    id_block::reset();  // the parent keeps using this block
    // relaxed, owner: there is only one thread
    first_own_id = next_block.load(std::memory_order_relaxed);
}

void id_block::reserve() noexcept {
    // relaxed: only uniqueness matters, and the read-modify-write alone gives that
    local_.next_ = next_block.fetch_add(block_size, std::memory_order_relaxed);
    local_.end_ = local_.next_ + block_size;
}

}  // namespace spool::inline v1::detail
