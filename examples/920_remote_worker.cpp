// A worker process that drains on SIGTERM: what has begun ends, the rest goes back to the queue.
// prints: worker: drained\nsubmitter: 10 results\n
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include <spool/remote/executor.hpp>
#include <spool/remote/sqlite_broker.hpp>
#include <spool/remote/worker.hpp>
#include <spool/spool.hpp>

using namespace std::chrono_literals;

SPOOL_REMOTE(square, int(int n));

// [worker]
int worker_main(const std::string& file) {
    spool::thread_pool_executor pool({.core_size = 4});
    spool::remote::worker worker({.broker = spool::remote::sqlite(file), .pool = pool, .lease = 15s});
    worker.handle(square, [](int n) { return n * n; });
    worker.run_until_signal({SIGTERM, SIGINT});  // returns when everything is reported
    std::printf("worker: drained\n");
    return 0;
}
// [/worker]

int main() {
    std::string folder = (std::filesystem::temp_directory_path() / "spool-920-XXXXXX").string();
    folder = mkdtemp(folder.data());
    const std::string file = folder + "/jobs.db";
    const pid_t worker = fork();  // before this process has threads
    if (worker == 0) {
        const int code = worker_main(file);
        std::fflush(stdout);
        _exit(code);
    }
    int results = 0;
    {
        spool::remote::executor cluster({.broker = spool::remote::sqlite(file)});
        for (int i = 0; i < 10; ++i) {
            results += cluster.submit(square, i).get() == i * i;
        }
    }
    kill(worker, SIGTERM);
    waitpid(worker, nullptr, 0);
    std::printf("submitter: %d results\n", results);
    std::filesystem::remove_all(folder);
    return results == 10 ? 0 : 1;
}
