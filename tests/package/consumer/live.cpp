// A user's program with the component live.
#include <string>

#include <spool/live/monitor.hpp>
#include <spool/spool.hpp>

int main() {
    spool::thread_pool_executor pool({.name = "seen", .core_size = 1, .maximum_size = 1});
    pool.submit([] {}).get();
    const spool::live::monitor watch;
    return watch.exposition().find("pool=\"seen\"") == std::string::npos ? 1 : 0;
}
