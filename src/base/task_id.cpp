#include "spool/base/task_id.hpp"

#include <atomic>

namespace spool::inline v1::detail {
namespace {

constexpr task_id block_size = 4096;

// The first id of the next unused block; publishes nothing.
constinit std::atomic<task_id> next_block{1};

}  // namespace

constinit thread_local id_block id_block::mine_;

constinit task_id first_own_id = 0;

void begin_new_ids() noexcept {
    id_block::forget();  // the parent keeps using this block
    // relaxed, owner: there is only one thread
    first_own_id = next_block.load(std::memory_order_relaxed);
}

void id_block::renew() noexcept {
    // relaxed, statistic: only uniqueness matters, and the read-modify-write alone gives that
    mine_.next_ = next_block.fetch_add(block_size, std::memory_order_relaxed);
    mine_.end_ = mine_.next_ + block_size;
}

}  // namespace spool::inline v1::detail
