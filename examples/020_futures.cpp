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
    // Declared before the pool, so that it outlives the tasks that use it.
    std::latch data_there{1};
    auto pool = spool::fixed_thread_pool(2);

    // [futures]
    // get() waits for the task. The reference it returns is valid while a handle exists.
    spool::future<std::string> word = pool.submit([] { return std::string{"spool"}; });
    std::printf("word: %s\n", word.get().c_str());

    // A handle is a value: copy it, keep it in a container, read it from several threads.
    const spool::future<std::string> same = word;
    std::printf("both handles: %s\n", same == word && same.get() == "spool" ? "yes" : "no");

    // get() rethrows the task's exception; state() and exception_now() report it without throwing.
    spool::future<void> saving = pool.submit([] { throw std::runtime_error("disk full"); });
    saving.wait();
    if (saving.state() == spool::future_state::failed) {
        std::printf("failed: %s\n", spool::describe(saving.exception_now()).c_str());
    }

    // A wait with a time limit. After a timeout the task keeps running; the caller may wait again.
    spool::future<int> slow = pool.submit([&] {
        data_there.wait();
        return 7;
    });
    std::printf("in time: %s\n", slow.wait_for(10ms) ? "yes" : "no");
    data_there.count_down();
    std::printf("finally: %d\n", slow.get());

    // get() on an rvalue that is the last handle moves the result out instead of copying it.
    auto lines = pool.submit([] { return std::vector<std::string>{"one", "two", "three"}; });
    const std::vector<std::string> mine = std::move(lines).get();
    std::printf("moved out: %zu lines\n", mine.size());
    // [/futures]
}
