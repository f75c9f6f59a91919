#include "spool/detail/state_memory.hpp"

#include <new>
#include <utility>

#include "base/thread_sanitizer_active.hpp"

namespace spool::inline v1::detail {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool may_recycle = false;  // the tools must see every allocation and every release
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool may_recycle = false;
#else
constexpr bool may_recycle = true;
#endif
#else
constexpr bool may_recycle = true;
#endif

void free_batch(free_block* batch) noexcept {
    const std::size_t size = batch != nullptr ? batch->size : 0;
    while (batch != nullptr) {
        ::operator delete(std::exchange(batch, batch->next), size);
    }
}

}  // namespace

constinit thread_local state_returns* state_returns::current_ = nullptr;

void* allocate_state(std::size_t size, state_depot* depot) {
    if (may_recycle && depot != nullptr) {
        if (void* const recycled = depot->try_take(size)) {
            return recycled;
        }
    }
    return ::operator new(size);
}

void free_state(void* memory, std::size_t size) noexcept {
    if constexpr (may_recycle) {
        if (state_returns* const here = state_returns::current();
            here != nullptr && !is_thread_sanitizer_active()) {
            here->add(memory, size);
            return;
        }
    }
    ::operator delete(memory, size);
}

void state_returns::add(void* memory, std::size_t size) noexcept {
    if (batch_ != nullptr && (batch_->size != size || count_ == batch_size)) {
        if (count_ < batch_size || !depot_.try_return(batch_)) {
            free_batch(batch_);
        }
        batch_ = nullptr;
        count_ = 0;
    }
    batch_ = ::new (memory) free_block{.next = batch_, .next_batch = nullptr, .size = size};
    ++count_;
}

void state_returns::free_all() noexcept {
    free_batch(std::exchange(batch_, nullptr));
    count_ = 0;
}

bool state_depot::try_return(free_block* batch) noexcept {
    if (batches_.load(std::memory_order_relaxed) >= most_batches) {  // relaxed, hint
        return false;
    }
    batches_.fetch_add(1, std::memory_order_relaxed);               // relaxed, hint
    batch->next_batch = returned_.load(std::memory_order_relaxed);  // relaxed, hint: decided below
    // release: hands the blocks over to the thread that takes them
    while (!returned_.compare_exchange_weak(batch->next_batch, batch, std::memory_order_release)) {}
    return true;
}

void* state_depot::take(std::size_t size) noexcept {
    if (locked_.exchange(true, std::memory_order_acquire)) {  // acquire: the last holder's changes
        return nullptr;
    }
    if (ready_.load(std::memory_order_relaxed) == nullptr) {  // relaxed, owner: of the lock
        refill(size);
    }
    free_block* block = ready_.load(std::memory_order_relaxed);  // relaxed, owner
    if (block != nullptr && ready_size_ == size) {
        ready_.store(block->next, std::memory_order_relaxed);  // relaxed, owner
    } else {
        block = nullptr;
    }
    locked_.store(false, std::memory_order_release);  // release: hands the changes on
    return block;
}

// Makes the next batch of this size ready, and frees batches of other sizes. Precondition: the
// caller has the lock, and nothing is ready.
void state_depot::refill(std::size_t size) noexcept {
    free_block* batch = nullptr;
    do {
        if (waiting_.load(std::memory_order_relaxed) == nullptr) {  // relaxed, owner
            // acquire: the blocks that workers returned. relaxed, owner: of the lock
            waiting_.store(returned_.exchange(nullptr, std::memory_order_acquire), std::memory_order_relaxed);
        }
        free_batch(batch);
        batch = waiting_.load(std::memory_order_relaxed);  // relaxed, owner
        if (batch == nullptr) {
            return;
        }
        waiting_.store(batch->next_batch, std::memory_order_relaxed);  // relaxed, owner
        batches_.fetch_sub(1, std::memory_order_relaxed);              // relaxed, hint
    } while (batch->size != size);
    ready_size_ = size;
    ready_.store(batch, std::memory_order_relaxed);  // relaxed, owner
}

void state_depot::free_all() noexcept {
    if (locked_.exchange(true, std::memory_order_acquire)) {  // acquire: as in take()
        return;                                               // a submitter is using the blocks
    }
    free_block* block = ready_.exchange(nullptr, std::memory_order_relaxed);  // relaxed, owner
    while (block != nullptr) {
        ::operator delete(std::exchange(block, block->next), ready_size_);
    }
    refill(0);                                        // frees all batches
    locked_.store(false, std::memory_order_release);  // release: as in take()
}

}  // namespace spool::inline v1::detail
