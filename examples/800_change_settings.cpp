// apply() changes several settings of a running pool at once, or none of them.
// prints: would change maximum_size: 4 -> 16\nwould change queue_capacity: 100 -> 2000\nversion 1\nrefused maximum_size = 2: maximum_size must not be less than core_size \(core_size 8, maximum_size 2\)\nstill 8 of 16\n
#include <cstdio>
#include <memory>

#include <spool/spool.hpp>

int main() {
    spool::thread_pool_executor pool(
        {.name = "decode",
         .core_size = 4,
         .maximum_size = 4,
         .queue = std::make_unique<spool::linked_blocking_queue<spool::task>>(100)});

    // [apply]
    // A dry run checks the change and says what it would do.
    const spool::pool_settings next{.maximum_size = 16, .queue_capacity = 2000};
    for (const spool::setting_change& c : pool.apply(next, spool::apply_mode::dry_run).fields) {
        std::printf("would change %s: %s -> %s\n", c.field.c_str(), c.before.c_str(), c.after.c_str());
    }
    // All fields change together, under one version. Waiting workers and submitters notice at once.
    std::printf("version %llu\n", static_cast<unsigned long long>(pool.apply(next).version));
    // [/apply]

    // [refused]
    pool.set_core_size(8);
    try {
        pool.apply({.maximum_size = 2, .queue_capacity = 50});
    } catch (const spool::invalid_settings& e) {  // nothing has changed, the queue neither
        std::printf("refused %s = %s: %s\n", e.field().c_str(), e.value().c_str(), e.why().c_str());
    }
    // [/refused]
    std::printf("still %zu of %zu\n", pool.core_size(), pool.maximum_size());
}
