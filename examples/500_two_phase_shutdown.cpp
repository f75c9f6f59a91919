// Shutdown in two phases: first let the work finish, then request a stop of what still runs.
// prints: quick: ended, 0 never ran\nslow: ended, 2 never ran\nthe long task was interrupted: yes\nqueued ones are cancelled: yes\n
#include <atomic>
#include <chrono>
#include <cstdio>

#include <spool/spool.hpp>

using namespace std::chrono_literals;

// [two_phases]
// Lets queued and running tasks finish within `grace`. Then requests a stop and waits for a minute
// at most.
void end(const char* name, spool::executor_service& pool, std::chrono::milliseconds grace) {
    const spool::shutdown_report report = spool::shutdown_and_await(pool, grace, 1min);
    std::printf("%s: %s, %zu never ran\n", name, report.terminated ? "ended" : "does not stop",
                report.never_ran.size());
    // The report owns the tasks that never ran; the caller may keep them or run them elsewhere.
    // Destroying a task with the report cancels its future, so no waiter blocks for ever.
}
// [/two_phases]

int main() {
    std::atomic<bool> interrupted{false};

    auto quick = spool::fixed_thread_pool(2);
    for (int i = 0; i < 100; ++i) {
        quick.execute([] {});
    }
    end("quick", quick, 1min);

    auto slow = spool::fixed_thread_pool(1);
    slow.execute([&] {
        try {
            spool::this_task::sleep_for(1h);
        } catch (const spool::interrupted&) {
            interrupted = true;
        }
    });
    const auto second = slow.submit([] { return 2; });
    const auto third = slow.submit([] { return 3; });
    end("slow", slow, 20ms);

    std::printf("the long task was interrupted: %s\n", interrupted ? "yes" : "no");
    std::printf("queued ones are cancelled: %s\n",
                second.is_cancelled() && third.is_cancelled() ? "yes" : "no");
}
