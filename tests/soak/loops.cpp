// Parallel loops and sorts on random pools. A loop that returns has visited every element once.
#include <algorithm>
#include <atomic>
#include <stop_token>
#include <string>
#include <vector>

#include <spool/parallel/parallel.hpp>

#include "hostile.hpp"
#include "world.hpp"

namespace soak {
namespace {

void visit_all(const place& at, spool::thread_pool_executor& pool) {
    const std::size_t n = at.chance.below(2000);
    const std::size_t chunks = at.chance.one_in(2) ? at.chance.below(40) : 0;
    const std::size_t bad = at.chance.one_in(4) ? at.chance.below(n + 1) : n;
    const std::size_t stop_at = at.chance.one_in(4) ? at.chance.below(n + 1) : n;
    std::stop_source stop;
    std::vector<std::atomic<int>> visits(n);
    bool returned = false;
    try {
        spool::parallel_for(pool, std::size_t{0}, n,
                            [&](std::size_t i) {
                                ++visits[i];
                                if (i == bad) {
                                    throw on_purpose{};
                                }
                                if (i == stop_at) {
                                    stop.request_stop();
                                }
                            },
                            {.grain = at.chance.below(50), .chunks = chunks, .stop = stop.get_token()});
        returned = true;
    } catch (const spool::interrupted&) {
    } catch (const on_purpose&) {}
    for (std::size_t i = 0; i < n; ++i) {
        if (visits[i] > 1 || (returned && visits[i] != 1)) {
            at.in.report("element " + std::to_string(i) + " of a loop: " + std::to_string(visits[i]) +
                         " visits");
            return;
        }
    }
    if (returned && bad != n) {
        at.in.report("a loop whose body threw has returned");
    }
}

void sort_all(const place& at, spool::thread_pool_executor& pool) {
    const std::size_t n = at.chance.below(20000);
    std::vector<int> v(n);
    for (int& x : v) {
        x = static_cast<int>(at.chance.below(1000));
    }
    std::vector<int> expected = v;
    std::sort(expected.begin(), expected.end());
    const bool throws = at.chance.one_in(4);
    std::atomic<long> left{throws ? static_cast<long>(at.chance.below(100000)) + 1 : -1};
    const auto less = [&](int a, int b) {
        if (throws && --left == 0) {
            throw on_purpose{};
        }
        return a < b;
    };
    bool returned = false;
    try {
        at.chance.one_in(2) ? spool::parallel_sort(pool, v, less)
                            : spool::parallel_stable_sort(pool, v, less);
        returned = true;
    } catch (const spool::interrupted&) {
    } catch (const on_purpose&) {}
    const bool is_sorted = std::is_sorted(v.begin(), v.end());
    std::sort(v.begin(), v.end());
    if (v != expected || (returned && !is_sorted)) {
        at.in.report(v != expected ? "a sort lost an element" : "a sort has returned with unsorted elements");
    }
}

}  // namespace

void loop(const place& at, slot& where, spool::thread_pool_executor& pool) {
    // The helpers of a loop are tasks of the pool without an entry: at most one per worker. A sort
    // forks some dozens of times.
    const bool sorts = at.chance.one_in(3);
    where.untracked += sorts ? 4096 : 64;
    sorts ? sort_all(at, pool) : visit_all(at, pool);
}

}  // namespace soak
