// Tasks that end before they start: by a deadline, or by a stop token from outside the pool.
// prints: page: timed out, before it began\nreport: cancelled by the request\n
#include <chrono>
#include <cstdio>
#include <future>
#include <stop_token>

#include <spool/spool.hpp>

int main() {
    std::promise<void> release;
    spool::fixed_thread_pool_executor pool{1};
    pool.execute([opened = release.get_future()] { opened.wait(); });  // occupies the only worker

    // [limits]
    const auto limit = std::chrono::steady_clock::now();  // over when the worker dequeues the task
    auto page = pool.submit(spool::expires_at(limit, [] { return 1; }));

    std::stop_source request;  // for example a connection's: stopped when the connection ends
    auto report = pool.submit(request.get_token(), [] { return 2; });
    request.request_stop();  // has the effect of report.cancel()
    // [/limits]

    release.set_value();
    try {
        static_cast<void>(page.get());
    } catch (const spool::timed_out&) {
        std::puts("page: timed out, before it began");
    }
    try {
        static_cast<void>(report.get());
    } catch (const spool::cancelled&) {
        std::puts("report: cancelled by the request");
    }
}
