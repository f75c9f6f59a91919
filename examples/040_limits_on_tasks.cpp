// A task that is no longer wanted: because its time is over, or because a stop was requested outside of the pool.
// prints: page: timed out, before it began\nreport: cancelled by the request\n
#include <chrono>
#include <cstdio>
#include <future>
#include <stop_token>

#include <spool/spool.hpp>

int main() {
    std::promise<void> release;
    spool::fixed_thread_pool_executor pool{1};
    pool.execute([opened = release.get_future()] { opened.wait(); });  // holds the only worker

    // [limits]
    const auto limit = std::chrono::steady_clock::now();  // over when the worker comes to it
    auto page = pool.submit(spool::expires_at(limit, [] { return 1; }));

    std::stop_source request;  // a connection's, say: it ends with the connection
    auto report = pool.submit(request.get_token(), [] { return 2; });
    request.request_stop();  // as report.cancel()
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
