// state_memory: the memory of futures that a pool's workers free goes back to its submitters.
//
// A submitter that drops its future at once leaves the last reference to the worker. The worker
// then frees what another thread has allocated, and in a general allocator the two contend with
// every task. So a worker collects such blocks, and gives a batch of them to its pool:
//
//     worker, a state_returns        pool, a state_depot              submitter
//     block -> batch of 32 --push--> returned ----exchange----> ready -> block of the next future
//
// A worker that has been idle for a millisecond frees what it and the pool hold. So an idle pool
// keeps no memory.
#pragma once

#include <atomic>
#include <cstddef>

#include "spool/base/export.hpp"
#include "spool/detail/cache_line.hpp"

namespace spool::inline v1::detail {

/// A free block. The first block of a batch also describes the batch.
struct free_block {
    free_block* next;
    free_block* next_batch;
    std::size_t size;
};

/// Part of a pool. Thread safety: any thread may call every member.
class SPOOL_API state_depot {
public:
    state_depot() = default;
    state_depot(const state_depot&) = delete;
    state_depot& operator=(const state_depot&) = delete;
    ~state_depot() { trim(); }

    /// A block of `size` bytes, or null if there is none, or another submitter is at it.
    [[nodiscard]] void* try_take(std::size_t size) noexcept { return looks_empty() ? nullptr : take(size); }
    /// Takes a batch of blocks of the same size. False: there are enough, and the caller frees
    /// them.
    [[nodiscard]] bool try_return(free_block* batch) noexcept;
    /// Frees all blocks.
    void trim() noexcept {
        if (!looks_empty()) {
            free_all();
        }
    }

    /// A hint. A submitter that sees too little allocates, and a worker sees what it has returned.
    [[nodiscard]] bool looks_empty() const noexcept {
        return ready_.load(std::memory_order_relaxed) == nullptr &&    // relaxed, hint
               waiting_.load(std::memory_order_relaxed) == nullptr &&  // relaxed, hint
               returned_.load(std::memory_order_relaxed) == nullptr;   // relaxed, hint
    }

private:
    void free_all() noexcept;
    void* take(std::size_t size) noexcept;
    void refill(std::size_t size) noexcept;

    static constexpr unsigned most_batches = 128;

    std::atomic<bool> locked_{false};          // guards the next three
    std::atomic<free_block*> ready_{nullptr};  // the rest of a batch
    std::size_t ready_size_ = 0;
    std::atomic<free_block*> waiting_{nullptr};  // batches, linked by next_batch
    // On a cache line of their own: workers write them.
    alignas(cache_line) std::atomic<free_block*> returned_{nullptr};  // linked by next_batch
    std::atomic<unsigned> batches_{0};
};

/// Collects the blocks that a worker frees. Open on the worker's thread, for as long as it works.
class SPOOL_API state_returns {
public:
    explicit state_returns(state_depot& depot) noexcept : depot_(depot), outer_(current_) { current_ = this; }
    state_returns(const state_returns&) = delete;
    state_returns& operator=(const state_returns&) = delete;
    ~state_returns() {
        current_ = outer_;
        free_all();
    }

    [[nodiscard]] static state_returns* current() noexcept { return current_; }
    /// Precondition: `size` is at least that of a free_block.
    void add(void* memory, std::size_t size) noexcept;
    /// Frees what it holds.
    void free_all() noexcept;
    [[nodiscard]] bool empty() const noexcept { return batch_ == nullptr; }

private:
    static constexpr unsigned batch_size = 32;
    static constinit thread_local state_returns* current_;

    state_depot& depot_;
    state_returns* const outer_;
    free_block* batch_ = nullptr;
    unsigned count_ = 0;
};

/// The memory of a future's state: from the depot, if it is not null and has a block.
[[nodiscard]] SPOOL_API void* allocate_state(std::size_t size, state_depot* depot);
SPOOL_API void free_state(void* memory, std::size_t size) noexcept;

}  // namespace spool::inline v1::detail
