// What a job can be told: a key, a delay, a priority, retries, a time limit; and how to cancel it.
// prints: same job: yes\nfetched after 3 tries\nthe slow job: cancelled\n
#include <cstdio>

#include <spool/remote/executor.hpp>
#include <spool/remote/memory_broker.hpp>
#include <spool/remote/worker.hpp>
#include <spool/spool.hpp>

using namespace std::chrono_literals;

SPOOL_REMOTE(fetch, std::string(std::string url));
SPOOL_REMOTE(slow, void());

int main() {
    const auto broker = spool::remote::memory();  // for one process; its jobs end with it
    spool::remote::executor cluster({.broker = broker});

    // [options]
    // At most one unfinished job has this key: the second call finds the first one's job.
    const spool::remote::submit_options how{.key = "fetch:a", .priority = 3, .retries = 5, .backoff = 1ms};
    const auto first = cluster.submit_job(how, fetch, "a");
    const auto second = cluster.submit_job(how, fetch, "a");
    std::printf("same job: %s\n", first.id == second.id ? "yes" : "no");
    // [/options]
    const spool::future<void> endless = cluster.submit({.delay = 1ms, .time_limit = 1h}, slow);

    spool::thread_pool_executor pool({.core_size = 2});
    spool::remote::worker worker({.broker = broker, .pool = pool});
    // [handler]
    worker.handle(fetch, [](const std::string& url) {
        // The id is the same in every run, so it can make an effect idempotent.
        if (spool::remote::this_job::attempt() < 2) {
            throw std::runtime_error("no connection to " + url);  // runs again, after the backoff
        }
        return "fetched after " + std::to_string(spool::remote::this_job::attempt() + 1) + " tries";
    });
    // A last parameter of type std::stop_token is the job's own: cancel() stops it.
    worker.handle(slow, [](std::stop_token stop) {
        while (!stop.stop_requested()) {
            spool::this_task::sleep_for(1ms);
        }
    });
    // [/handler]
    worker.start();
    std::printf("%s\n", first.result.get().c_str());
    endless.cancel();
    std::printf("the slow job: %s\n", endless.is_cancelled() ? "cancelled" : "not cancelled");
}
