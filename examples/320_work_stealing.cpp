// Tasks that spawn tasks: a worker queues them in its own deque, and idle workers steal.
// prints: 1048575 tasks ran\n
#include <atomic>
#include <cstdio>

#include <spool/spool.hpp>

// [work_stealing]
struct tree {
    spool::thread_pool_executor& pool;
    std::atomic<int> ran{0};
    std::atomic<int> open{0};  // spawned but not finished
    spool::future_task<void> done{[] {}};

    void grow(int depth) {
        open.fetch_add(1);
        pool.execute([this, depth] {
            ran.fetch_add(1);
            if (depth > 1) {
                grow(depth - 1);
                grow(depth - 1);
            }
            if (open.fetch_sub(1) == 1) {
                done.run();
            }
        });
    }
};

int main() {
    spool::thread_pool_executor pool = spool::work_stealing_pool();
    tree oak{pool};
    oak.grow(20);
    oak.done.get();
    std::printf("%d tasks ran\n", oak.ran.load());
}
// [/work_stealing]
