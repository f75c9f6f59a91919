// Jobs for other processes: a name that both sides know, a submitter, a worker, a broker between.
// prints: 2 \+ 3 = 5\nthe worker said: std::runtime_error: division by zero\n
// [remote]
#include <cstdio>
#include <filesystem>
#include <stdexcept>

#include <spool/remote/executor.hpp>
#include <spool/remote/sqlite_broker.hpp>
#include <spool/remote/worker.hpp>
#include <spool/spool.hpp>

// Both sides include this: names travel, closures cannot.
SPOOL_REMOTE(add, int(int a, int b));
SPOOL_REMOTE(divide, int(int a, int b));

// In a worker process.
void serve(spool::remote::worker& worker) {
    worker.handle(add, [](int a, int b) { return a + b; });
    worker.handle(divide,
                  [](int a, int b) { return b != 0 ? a / b : throw std::runtime_error("division by zero"); });
    worker.start();
}

// In a submitter process.
void use(spool::remote::executor& cluster) {
    spool::future<int> sum = cluster.submit(add, 2, 3);
    std::printf("2 + 3 = %d\n", sum.get());
    try {
        cluster.submit(divide, 1, 0).get();
    } catch (const spool::remote::remote_error& e) {
        std::printf("the worker said: %s: %s\n", e.type().c_str(), e.text().c_str());
    }
}
// [/remote]

int main() {
    std::string folder = (std::filesystem::temp_directory_path() / "spool-900-XXXXXX").string();
    folder = mkdtemp(folder.data());
    {
        // Here both sides are in one process; each has its own connection to the file.
        spool::thread_pool_executor pool({.core_size = 2});
        spool::remote::worker worker({.broker = spool::remote::sqlite(folder + "/jobs.db"), .pool = pool});
        serve(worker);
        spool::remote::executor cluster({.broker = spool::remote::sqlite(folder + "/jobs.db")});
        use(cluster);
    }
    std::filesystem::remove_all(folder);
}
