// A submitter, a worker and the functions that tests of both use.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "remote/support/broker_kinds.hpp"
#include "spool/pool/thread_pool_executor.hpp"
#include "spool/remote/executor.hpp"
#include "spool/remote/worker.hpp"
#include "support/delays.hpp"
#include "support/gate.hpp"

namespace test {

SPOOL_REMOTE(add, int(int a, int b));
SPOOL_REMOTE(greet, std::string(std::string name));
SPOOL_REMOTE(nothing, void());
SPOOL_REMOTE(fail, int(std::string text));

/// A worker with a pool of its own, on a connection of its own.
class site {
public:
    explicit site(std::shared_ptr<spool::remote::broker> b, std::size_t threads = 2,
                  std::chrono::nanoseconds lease = std::chrono::seconds{15})
        : pool({.name = "site", .core_size = threads}),
          worker({.broker = std::move(b),
                  .queues = {{"default", 1}},
                  .pool = pool,
                  .name = "test-worker",
                  .lease = lease,
                  .poll = std::chrono::milliseconds{100}}) {}

    spool::thread_pool_executor pool;
    spool::remote::worker worker;
};

/// Every test below talks through two connections: the executor's and the worker's.
class over_sites : public over_brokers {
protected:
    [[nodiscard]] spool::remote::executor_options options() const {
        return {.broker = broker_, .poll = std::chrono::milliseconds{100}};
    }
};

template <class T>
T get(const spool::future<T>& f) {
    return f.get_for(long_delay());
}

}  // namespace test
