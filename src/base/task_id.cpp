#include "spool/base/task_id.hpp"

#include <atomic>

namespace spool::inline v1::detail {
namespace {

constexpr task_id block_size = 4096;

constinit std::atomic<task_id> next_block{1};  // first id of the next unused block; publishes nothing

}  // namespace

constinit thread_local id_block id_block::mine_;

constinit task_id first_own_id = 0;

void begin_new_ids() noexcept {
    id_block::forget();                                         // the parent goes on with this one
    first_own_id = next_block.load(std::memory_order_relaxed);  // relaxed, owner: there is one thread
}

void id_block::renew() noexcept {
    // relaxed, statistic: only uniqueness matters, which the read-modify-write gives by itself
    mine_.next_ = next_block.fetch_add(block_size, std::memory_order_relaxed);
    mine_.end_ = mine_.next_ + block_size;
}

}  // namespace spool::inline v1::detail
