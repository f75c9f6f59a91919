// A typical first program of a user. The package tests build it in every supported way. It needs
// what the compiled library exports: executors, pools, and the queues that the library
// instantiates.
#include <memory>
#include <utility>

#include <spool/spool.hpp>

namespace {

int answer_of(spool::executor_service& service) {
    return service.submit([] { return 6 * 7; }).get();
}

int answer_over(std::unique_ptr<spool::blocking_queue<spool::task>> queue) {
    spool::thread_pool_executor pool({.core_size = 1, .queue = std::move(queue)});
    return answer_of(pool);
}

}  // namespace

int main() {
    spool::direct_executor executor;
    auto answer = spool::submit(executor, [] { return 6 * 7; });
    spool::thread_pool_executor stealing = spool::work_stealing_pool(2);
    const bool right = answer.get() == 42 && answer_of(stealing) == 42 &&
                       answer_over(std::make_unique<spool::linked_blocking_queue<spool::task>>(8)) == 42 &&
                       answer_over(std::make_unique<spool::array_blocking_queue<spool::task>>(8)) == 42 &&
                       answer_over(std::make_unique<spool::synchronous_queue<spool::task>>()) == 42;
    return right ? 0 : 1;
}
