// Tasks by priority: the highest value first, equal values in FIFO order.
// prints: urgent\nfirst\nsecond\nwhen there is time\n
#include <cstdio>
#include <latch>
#include <memory>

#include <spool/spool.hpp>

int main() {
    std::latch all_there{1};
    // [priorities]
    spool::thread_pool_executor pool(
        {.core_size = 1, .queue = std::make_unique<spool::priority_blocking_queue<spool::task>>()});
    pool.execute([&] { all_there.wait(); });  // occupies the only worker, so later tasks queue up

    const auto say = [](const char* what) { return [what] { std::puts(what); }; };
    pool.execute(say("first"));
    pool.execute(say("second"));
    pool.execute(spool::with_priority(-5, say("when there is time")));
    auto urgent = pool.submit(spool::with_priority(10, say("urgent")));  // submit() keeps it
    all_there.count_down();
    urgent.wait();
    // [/priorities]
}
