// Spool's pools: one adapter template, and a `Kind` for each way to construct a pool.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "pools/support/contender.hpp"
#include "spool/pool/executors.hpp"
#include "spool/pool/pool_options.hpp"
#include "spool/pool/rejection.hpp"
#include "spool/pool/thread_pool_executor.hpp"
#include "spool/queue/array_blocking_queue.hpp"

namespace bench {

template <class Kind>
class spool_pool {
public:
    static constexpr traits about = Kind::about;

    explicit spool_pool(pool_shape shape) : pool_(Kind::make(shape)) {}

    template <class F>
    void post(F&& f) {
        pool_.execute(std::forward<F>(f));
    }
    template <class F>
    auto submit(F&& f) {
        return pool_.submit(std::forward<F>(f));
    }

private:
    spool::thread_pool_executor pool_;
};

struct fixed_linked {
    static constexpr traits about{.name = "spool-fixed-linked", .label = "Spool fixed, linked queue"};
    static spool::thread_pool_executor make(pool_shape shape) {
        return spool::fixed_thread_pool(shape.workers);
    }
};

/// 65,536 slots; a producer waits while the queue is full.
struct fixed_array {
    static constexpr traits about{
        .name = "spool-fixed-array", .label = "Spool fixed, array queue", .waits_when_full = true};
    static spool::thread_pool_executor make(pool_shape shape) {
        return spool::thread_pool_executor{
            {.core_size = shape.workers,
             .queue = std::make_unique<spool::array_blocking_queue<spool::task>>(65'536),
             .rejection = spool::block_policy{}}};
    }
};

struct stealing {
    static constexpr traits about{.name = "spool-stealing", .label = "Spool work stealing"};
    static spool::thread_pool_executor make(pool_shape shape) {
        return spool::work_stealing_pool(shape.workers);
    }
};

struct cached {
    static constexpr traits about{.name = "spool-cached", .label = "Spool cached", .queues = false};
    static spool::thread_pool_executor make(pool_shape) { return spool::cached_thread_pool(); }
};

/// The fixed pool whose workers park at once. It shows what spinning before parking is worth.
struct fixed_without_spin {
    static constexpr traits about{.name = "spool-fixed-no-spin", .label = "Spool fixed, idle_spin off"};
    static spool::thread_pool_executor make(pool_shape shape) {
        return spool::thread_pool_executor{
            {.core_size = shape.workers, .idle_spin = spool::idle_spin::off()}};
    }
};

/// The fixed pool whose workers spin longer: more CPU time for less latency.
struct fixed_low_latency {
    static constexpr traits about{.name = "spool-fixed-low-latency",
                                  .label = "Spool fixed, idle_spin low_latency"};
    static spool::thread_pool_executor make(pool_shape shape) {
        return spool::thread_pool_executor{
            {.core_size = shape.workers, .idle_spin = spool::idle_spin::low_latency()}};
    }
};

}  // namespace bench
