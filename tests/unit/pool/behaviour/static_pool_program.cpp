// A pool with static storage and queued tasks: exit() destroys the pool, and every task has run by
// then. The exit code is 0 if so.
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include <spool/spool.hpp>

namespace {

constexpr int tasks = 200;

// Constructed before the pool, so destroyed after it.
struct final_check {
    ~final_check() {
        if (ran != tasks) {
            std::fprintf(stderr, "%d of %d tasks have run\n", ran.load(), tasks);
            std::_Exit(1);
        }
    }
    std::atomic<int> ran{0};
};

final_check check;
spool::thread_pool_executor early({.name = "early", .core_size = 2});

spool::thread_pool_executor& late() {
    static spool::thread_pool_executor pool({.name = "late", .core_size = 1});
    return pool;
}

}  // namespace

int main() {
    for (int i = 0; i < tasks / 2; ++i) {
        early.execute([] { ++check.ran; });
        late().execute([] { ++check.ran; });
    }
}
