// fork_list: all pools of the process, for a forked child.
#pragma once

#include <vector>

#include "spool/pool/pool_handle.hpp"
#include "spool/pool/thread_pool_executor.hpp"

namespace spool::inline v1 {

class thread_pool_executor::fork_list {
public:
    static void add(thread_pool_executor& pool);
    static void remove(thread_pool_executor& pool) noexcept;
    /// Installs `fresh` as the pool of the handle. Drops `fresh` if another thread was faster.
    static void put_in_place(const thread_pool_executor& handle, std::shared_ptr<detail::pool> fresh);
    [[nodiscard]] static std::vector<pool_handle> handles();

private:
    static void before_fork();
    static void in_parent();
    static void in_child();
    static void detach_own_workers() noexcept;

    static const bool watching;
};

}  // namespace spool::inline v1
