// Futures: a value, an exception, two handles to one result, and a wait that gives up.
// prints: word: spool\nboth handles: yes\nfailed: disk full\nin time: no\nfinally: 7\nmoved out: 3 lines\n
#include <chrono>
#include <cstdio>
#include <latch>
#include <stdexcept>
#include <string>
#include <vector>

#include <spool/spool.hpp>

using namespace std::chrono_literals;

int main() {
    std::latch data_there{1};  // what tasks use is declared before the pool, so that it outlives them
    auto pool = spool::fixed_thread_pool(2);

    // [futures]
    // get() waits, and gives a reference that is valid as long as a handle lives.
    spool::future<std::string> word = pool.submit([] { return std::string{"spool"}; });
    std::printf("word: %s\n", word.get().c_str());

    // A handle is a value: copy it, keep it in a container, read it from several threads.
    const spool::future<std::string> same = word;
    std::printf("both handles: %s\n", same == word && same.get() == "spool" ? "yes" : "no");

    // What a task throws comes out of get(); exception_now() and state() tell without throwing.
    spool::future<void> saving = pool.submit([] { throw std::runtime_error("disk full"); });
    saving.wait();
    if (saving.state() == spool::future_state::failed) {
        std::printf("failed: %s\n", spool::describe(saving.exception_now()).c_str());
    }

    // A wait with a limit; the task goes on, and so may the next wait.
    spool::future<int> slow = pool.submit([&] {
        data_there.wait();
        return 7;
    });
    std::printf("in time: %s\n", slow.wait_for(10ms) ? "yes" : "no");
    data_there.count_down();
    std::printf("finally: %d\n", slow.get());

    // From the last handle the result is moved, not copied.
    auto lines = pool.submit([] { return std::vector<std::string>{"one", "two", "three"}; });
    const std::vector<std::string> mine = std::move(lines).get();
    std::printf("moved out: %zu lines\n", mine.size());
    // [/futures]
}
