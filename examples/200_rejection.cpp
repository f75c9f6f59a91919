// A full pool, and what each rejection policy does with one more task.
// prints: abort: queue full\ncaller runs: yes\ndiscard: .*\ndiscard oldest: .*\nblock: .*\nown: 1 put aside\nthe newest ran: yes\n
#include <chrono>
#include <cstdio>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include <spool/spool.hpp>

using namespace std::chrono_literals;

int main() {
    std::latch finish{1};
    std::vector<spool::task> aside;
    spool::thread_pool_executor pool(
        {.core_size = 1, .queue = std::make_unique<spool::array_blocking_queue<spool::task>>(1)});
    pool.execute([&] { finish.wait(); });   // occupies the only worker
    auto oldest = pool.submit([] {});       // fills the queue
    const auto nothing = [] { return 0; };  // one task too many, submitted under each policy
    // [rejection]
    try {  // abort_policy is the default
        pool.execute(nothing);
    } catch (const spool::rejected_execution& e) {
        std::printf("abort: %s\n", spool::to_string(e.reason()).data());
    }

    pool.set_rejection(spool::caller_runs_policy{});
    auto here = pool.submit([] { return std::this_thread::get_id(); });
    std::printf("caller runs: %s\n", here.get() == std::this_thread::get_id() ? "yes" : "no");

    pool.set_rejection(spool::discard_policy{});
    auto dropped = pool.submit(nothing);
    std::printf("discard: the new one is %s\n", dropped.is_cancelled() ? "cancelled" : "kept");

    pool.set_rejection(spool::discard_oldest_policy{});
    auto newest = pool.submit(nothing);
    std::printf("discard oldest: the old one is %s\n", oldest.is_cancelled() ? "cancelled" : "kept");

    pool.set_rejection(spool::block_policy{10ms});
    try {
        pool.execute(nothing);
    } catch (const spool::rejected_execution&) {
        std::printf("block: no room within 10 ms\n");
    }

    pool.set_rejection([&](spool::task&& work, spool::rejection_context& refusal) {
        if (refusal.retry(work) != spool::admission_result::accepted) {
            aside.push_back(std::move(work));
        }
    });
    pool.execute(nothing);
    std::printf("own: %zu put aside\n", aside.size());
    // [/rejection]
    finish.count_down();
    std::printf("the newest ran: %s\n", newest.get() == 0 ? "yes" : "no");
}
