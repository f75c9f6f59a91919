// fork_list: all pools of the process, for the child that a fork makes.
#pragma once

#include "spool/pool/thread_pool_executor.hpp"

namespace spool::inline v1 {

class thread_pool_executor::fork_list {
public:
    static void add(thread_pool_executor& pool);
    static void remove(thread_pool_executor& pool) noexcept;
    /// Unless another was faster: then `fresh` is dropped.
    static void put_in_place(const thread_pool_executor& pool, std::shared_ptr<core> fresh);

private:
    static void before_fork();
    static void in_parent();
    static void in_child();
    static void let_own_workers_go() noexcept;

    static const bool watching;
};

}  // namespace spool::inline v1
