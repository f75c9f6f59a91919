#include "spool/pool/executors.hpp"

#include <memory>
#include <utility>

#include "spool/queue/synchronous_queue.hpp"
#include "spool/queue/work_stealing_queue.hpp"

namespace spool::inline v1 {
namespace {

pool_options fixed(std::size_t n, thread_factory&& factory) {
    return {.name = "fixed", .core_size = n, .maximum_size = n, .thread_factory = std::move(factory)};
}

pool_options cached(thread_factory&& factory) {
    return {.name = "cached",
            .core_size = 0,
            .maximum_size = largest_pool,
            .queue = std::make_unique<synchronous_queue<task>>(),
            .thread_factory = std::move(factory)};
}

pool_options stealing(std::size_t n, thread_factory&& factory) {
    return {.name = "stealing",
            .core_size = n,
            .maximum_size = n,
            .queue = std::make_unique<work_stealing_queue<task>>(),
            .thread_factory = std::move(factory)};
}

std::unique_ptr<thread_pool_executor> single(thread_factory&& factory) {
    return std::make_unique<thread_pool_executor>(pool_options{
        .name = "single", .core_size = 1, .maximum_size = 1, .thread_factory = std::move(factory)});
}

}  // namespace

thread_pool_executor fixed_thread_pool(std::size_t n, thread_factory factory) {
    return thread_pool_executor(fixed(n, std::move(factory)));
}
thread_pool_executor cached_thread_pool(thread_factory factory) {
    return thread_pool_executor(cached(std::move(factory)));
}
thread_pool_executor work_stealing_pool(std::size_t n, thread_factory factory) {
    return thread_pool_executor(stealing(n, std::move(factory)));
}
unconfigurable_service single_thread_executor(thread_factory factory) {
    return unconfigurable_service{single(std::move(factory))};
}

fixed_thread_pool_executor::fixed_thread_pool_executor(std::size_t n, spool::thread_factory factory)
    : thread_pool_executor(fixed(n, std::move(factory))) {}

cached_thread_pool_executor::cached_thread_pool_executor(spool::thread_factory factory)
    : thread_pool_executor(cached(std::move(factory))) {}

work_stealing_pool_executor::work_stealing_pool_executor(std::size_t n, spool::thread_factory factory)
    : thread_pool_executor(stealing(n, std::move(factory))) {}

single_thread_pool_executor::single_thread_pool_executor(thread_factory factory)
    : unconfigurable_service(single(std::move(factory))) {}

}  // namespace spool::inline v1
