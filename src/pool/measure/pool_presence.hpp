// pool_presence: lets handles reach a pool that may be destroyed at any time.
//
// P1  While a visit lasts, the pool exists: retire() waits until all visits have ended.
// P2  After retire(), and in a forked child, no visit begins.
#pragma once

#include <string>

#include "spool/detail/mutex.hpp"
#include "spool/sync/event_count.hpp"

namespace spool::inline v1 {

namespace detail {
struct pool;
}

class pool_presence {
public:
    pool_presence(detail::pool& pool, std::string name, long process);

    /// A visit: get() is null if the pool is gone.
    class visit {
    public:
        explicit visit(pool_presence& to) : to_(to), pool_(to.enter()) {}
        visit(const visit&) = delete;
        visit& operator=(const visit&) = delete;
        ~visit() {
            if (pool_ != nullptr) {
                to_.leave();
            }
        }
        [[nodiscard]] detail::pool* get() const noexcept { return pool_; }

    private:
        pool_presence& to_;
        detail::pool* pool_;
    };

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] bool is_gone() const noexcept;
    /// The pool's destructor calls this, when the pool has ended.
    void retire() noexcept;

private:
    [[nodiscard]] detail::pool* enter() noexcept;
    void leave() noexcept;

    const std::string name_;
    const long process_;  // in another one the lock may be held for ever
    mutable detail::mutex mutex_;
    detail::pool* pool_ SPOOL_GUARDED_BY(mutex_);
    std::size_t visits_ SPOOL_GUARDED_BY(mutex_) = 0;
    event_count left_;
};

}  // namespace spool::inline v1
