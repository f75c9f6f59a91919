// Serial executors: several lanes on one pool, each running its tasks in order, without a lock.
// prints: a: 0123456789\nb: 0123456789\nbalance 1000\n
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <spool/spool.hpp>

int main() {
    std::string a;
    std::string b;
    long balance = 0;
    auto pool = spool::fixed_thread_pool(4);

    // [serial]
    spool::serial_executor lane_a{pool};  // lanes are cheap: one per account, file, connection
    spool::serial_executor lane_b{pool};
    for (char digit = '0'; digit <= '9'; ++digit) {
        lane_a.execute([&, digit] { a += digit; });  // in order, and never two at a time
        lane_b.execute([&, digit] { b += digit; });  // may run in parallel with lane_a
    }
    // A task sees the effects of all earlier tasks of its lane, and so does the caller of get().
    std::printf("a: %s\n", spool::submit(lane_a, [&] { return a; }).get().c_str());
    std::printf("b: %s\n", spool::submit(lane_b, [&] { return b; }).get().c_str());

    spool::serial_executor account{pool};
    {
        std::vector<std::jthread> tellers;
        for (int i = 0; i < 4; ++i) {
            tellers.emplace_back([&] {
                for (int n = 0; n < 250; ++n) {
                    account.execute([&] { ++balance; });  // `balance` needs no mutex
                }
            });
        }
    }
    std::printf("balance %ld\n", spool::submit(account, [&] { return balance; }).get());
    // [/serial]
}
