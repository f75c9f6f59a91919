// Spool's task_group on a work-stealing pool. The root runs on a worker, so only workers run tasks.
#pragma once

#include <cstddef>
#include <utility>

#include "spool/pool/executors.hpp"
#include "spool/pool/task_group.hpp"

namespace bench {

class spool_fork_join {
public:
    explicit spool_fork_join(std::size_t threads) : pool_(spool::work_stealing_pool(threads)) {}

    template <class F>
    void in(F f) {
        pool_.submit(std::move(f)).get();
    }

    class group {
    public:
        explicit group(spool_fork_join& where) : tasks_(where.pool_) {}
        template <class F>
        void run(F f) {
            tasks_.run(std::move(f));
        }
        void wait() { tasks_.wait(); }

    private:
        spool::task_group tasks_;
    };

private:
    spool::thread_pool_executor pool_;
};

}  // namespace bench
