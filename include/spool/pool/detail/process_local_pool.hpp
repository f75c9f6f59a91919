// process_local_pool: the pool behind a handle, one in each process.
#pragma once

#include <atomic>
#include <memory>

namespace spool::inline v1::detail {

struct pool;

/// A forked child abandons the parent's pool, and makes one of its own at the first use; see
/// src/pool/fork/pool_fork.hpp.
class process_local_pool {
public:
    explicit process_local_pool(std::shared_ptr<pool> made);
    process_local_pool(const process_local_pool&) = delete;
    process_local_pool& operator=(const process_local_pool&) = delete;
    ~process_local_pool();

    [[nodiscard]] pool& get() const noexcept {
        if (is_abandoned()) [[unlikely]] {
            make_own();
        }
        return *here_.load(std::memory_order_acquire);  // (F) pairs with make_own()
    }
    /// True in a forked child that has not used its pool.
    [[nodiscard]] bool is_abandoned() const noexcept {
        return here_.load(std::memory_order_acquire) == nullptr;  // (F) pairs with make_own()
    }
    /// For what never changes in a pool: get(), or the parent's pool where it is abandoned.
    [[nodiscard]] const pool& constants() const noexcept { return is_abandoned() ? *parents_ : get(); }

private:
    void make_own() const noexcept;
    static void abandon_all() noexcept;
    static const bool joins_forks;

    mutable std::atomic<pool*> here_;     // kept_.get(), for all threads; null: abandoned
    mutable std::shared_ptr<pool> kept_;  // shared with the workers, which may outlive the handle
    pool* parents_ = nullptr;             // in a forked child: the parent's pool
    // Links in the list of all pools, guarded by the lock of the list:
    process_local_pool* next_ = nullptr;
    process_local_pool** link_here_ = nullptr;  // the pointer that points at this one
};

}  // namespace spool::inline v1::detail
