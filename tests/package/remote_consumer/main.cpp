// Uses every broker of the installed component, so that everything it needs is linked.
#include <spool/remote/connect.hpp>
#include <spool/remote/executor.hpp>
#include <spool/remote/memory_broker.hpp>
#include <spool/remote/worker.hpp>

SPOOL_REMOTE(add, int(int a, int b));

int main() {
    try {
        static_cast<void>(spool::remote::connect("postgres:host=/nonexistent")->now());
        return 1;
    } catch (const spool::remote::broker_error&) {}
    const auto broker = spool::remote::memory();
    spool::thread_pool_executor pool({.core_size = 1});
    spool::remote::worker worker({.broker = broker, .pool = pool});
    worker.handle(add, [](int a, int b) { return a + b; });
    worker.start();
    spool::remote::executor cluster({.broker = broker});
    return cluster.submit(add, 2, 3).get() == 5 ? 0 : 1;
}
