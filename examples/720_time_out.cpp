// A time limit for a task of another pool: when the time is over, a timer cancels the task.
// prints: the query took too long and was stopped\nthe quick one answered 42, and its time limit is gone: 0 queued\n
#include <chrono>
#include <cstdio>

#include <spool/spool.hpp>

using namespace std::chrono_literals;

// [limit]
// Cancels `work` if it is not done in time. If it is done first, its completion cancels the timer.
template <class T>
void limit(spool::scheduled_thread_pool_executor& timers, spool::future<T> work,
           std::chrono::milliseconds time) {
    auto timer = timers.schedule([work] { work.cancel(); }, time);
    work.on_done([timer] { timer.cancel(); });
}
// [/limit]

int main() {
    auto workers = spool::fixed_thread_pool(2);
    auto timers = spool::scheduled_thread_pool(1);

    auto slow = workers.submit([] {
        spool::this_task::sleep_for(1h);  // throws when the task is cancelled
        return 0;
    });
    limit(timers, slow, 20ms);
    try {
        slow.get();
    } catch (const spool::cancelled&) {
        std::puts("the query took too long and was stopped");
    }

    auto quick = workers.submit([] { return 42; });
    limit(timers, quick, 1h);
    const int answer = quick.get();
    workers.close();  // afterwards every on_done() callback has run
    std::printf("the quick one answered %d, and its time limit is gone: %zu queued\n", answer,
                timers.queue().size());
}
