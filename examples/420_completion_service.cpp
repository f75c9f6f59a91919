// A completion service: returns results in completion order, not in submission order.
// prints: third\nfirst\nsecond failed: no answer\nnothing left: yes\n
#include <array>
#include <chrono>
#include <cstdio>
#include <latch>
#include <stdexcept>
#include <string>

#include <spool/spool.hpp>

using namespace std::chrono_literals;

int main() {
    const std::array<const char*, 3> names{"first", "second", "third"};
    std::array<std::latch, 3> answered{std::latch{1}, std::latch{1}, std::latch{1}};
    auto pool = spool::fixed_thread_pool(3);

    // [completion]
    spool::completion_service<std::string> pages{pool};
    for (std::size_t i = 0; i < names.size(); ++i) {
        pages.submit([&, i]() -> std::string {
            answered[i].wait();  // stands for a slow server
            if (i == 1) {
                throw std::runtime_error("second failed: no answer");
            }
            return names[i];
        });
    }

    for (const std::size_t next : {2U, 0U, 1U}) {
        answered[next].count_down();
        const spool::future<std::string> page = pages.take();  // waits for the next one to complete
        try {
            std::printf("%s\n", page.get().c_str());
        } catch (const std::runtime_error& e) {
            std::printf("%s\n", e.what());
        }
    }
    std::printf("nothing left: %s\n", pages.poll_for(10ms).has_value() ? "no" : "yes");
    // [/completion]
}
