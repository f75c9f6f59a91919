// Hands data from thread to thread in every way that the library offers. Built with
// -fsanitize=thread against a library that was built without it, it must run without a report.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <latch>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <spool/parallel/parallel.hpp>
#include <spool/spool.hpp>

using namespace std::chrono_literals;

namespace {

long fib(spool::thread_pool_executor& pool, int n) {
    if (n < 2) {
        return n;
    }
    long a = 0;
    spool::task_group children{pool};
    children.run([&] { a = fib(pool, n - 1); });
    const long b = fib(pool, n - 2);
    children.wait();
    return a + b;
}

void check(bool right, const char* what) {
    if (!right) {
        std::printf("wrong: %s\n", what);
        std::exit(1);
    }
}

struct counting_hooks : spool::pool_hooks {
    std::vector<int> seen = std::vector<int>(64);  // by worker
    std::string ended;
    void before_execute(const spool::task_info& t) override { ++seen[t.worker->number % 64]; }
    void after_execute(const spool::task_info& t, const std::exception_ptr&) override {
        ++seen[t.worker->number % 64];
    }
    void terminated() override { ended = "terminated, with a string that is not short at all"; }
};

// What the caller wrote is the loop's, what the loop wrote is the caller's and the next loop's.
void use_loops(spool::thread_pool_executor& pool) {
    std::vector<std::string> words(3000);
    spool::parallel_for(
        pool, std::size_t{0}, words.size(),
        [&](std::size_t i) { words[i] = std::string(30, 'x') + std::to_string(i * 7919 % 3001); },
        {.chunks = 30});
    spool::parallel_for_blocks(pool, std::size_t{0}, words.size(),
                               [&](std::size_t b, std::size_t e) {
                                   for (std::size_t i = b; i < e; ++i) {
                                       words[i] += '.';
                                   }
                               },
                               {.chunks = 7});
    std::vector<std::string> stable = words;
    spool::parallel_sort(pool, words);
    spool::parallel_stable_sort(pool, stable);
    check(words == stable, "sorts");
    const auto longest = [](std::size_t a, std::size_t b) { return std::max(a, b); };
    const std::size_t length =
        spool::parallel_reduce(pool, words, std::size_t{0}, longest, &std::string::size);
    check(length == 35, "reduction");
}

// What the submitter wrote is the task's, what the task wrote is the getter's.
void use_pool(spool::thread_pool_executor& pool) {
    std::vector<std::string> in(50);
    std::vector<std::string> out(50);
    std::vector<spool::future<std::string>> futures;
    for (std::size_t i = 0; i < in.size(); ++i) {
        in[i] = std::string(40, 'a') + std::to_string(i);
        futures.push_back(pool.submit([&in, &out, i] {
            out[i] = in[i];
            return in[i] + "!";
        }));
    }
    for (std::size_t i = 0; i < in.size(); ++i) {
        const std::string result = futures[i].get();
        check(result == out[i] + "!", "a result");
    }
    auto moved = pool.submit([p = std::make_unique<int>(7), s = std::string(60, 'x')]() mutable {
        *p += static_cast<int>(s.size());
        return std::move(p);
    });
    check(*std::move(moved).get() == 67, "a moved result");

    for (int i = 0; i < 20; ++i) {  // the future is gone before the catch block reads the exception
        try {
            pool.submit([] { throw std::runtime_error(std::string(100, 'e')); }).get();
        } catch (const std::runtime_error& e) {
            check(std::string(e.what()).size() == 100, "an exception");
        }
    }

    std::string told;
    spool::future_task<int> by_hand{[] { return 0; }};
    auto done = pool.submit([&told] { told = std::string(50, 't'); });
    auto continued = std::make_shared<std::string>();
    done.on_done([&told, continued, &by_hand] {
        *continued = told;
        by_hand.set_value(4);
    });
    check(by_hand.get() == 4 && continued->size() == 50, "on_done");

    std::string polled;
    auto looked_at = pool.submit([&polled] { polled = std::string(33, 'p'); });
    while (!looked_at.is_done()) {
        std::this_thread::yield();
    }
    check(polled.size() == 33, "is_done");

    std::vector<spool::task> many;
    std::vector<int> plain(100);
    std::latch all_added{100};
    for (std::size_t i = 0; i < plain.size(); ++i) {
        many.emplace_back([&plain, &all_added, i, big = std::array<char, 80>{}] {
            plain[i] += static_cast<int>(i) + big[0];
            all_added.count_down();
        });
    }
    plain.assign(plain.size(), 1);  // after the tasks were made
    pool.execute_all(std::span<spool::task>{many});
    std::vector<std::function<std::string()>> three;
    for (int i = 0; i < 3; ++i) {
        three.push_back([s = std::string(45, 'i')] { return s; });
    }
    for (auto& f : pool.invoke_all(three)) {
        check(f.get().size() == 45, "invoke_all");
    }
    check(pool.invoke_any(three).size() == 45, "invoke_any");

    auto stopped = std::make_shared<std::string>();
    std::atomic<bool> begun{false};
    auto endless = pool.submit([&begun, stopped](std::stop_token stop) {
        std::string note(70, 'n');
        const std::stop_callback when{stop, [&note, stopped] { *stopped = note; }};
        begun = true;
        while (!stop.stop_requested()) {
            std::this_thread::yield();
        }
    });
    while (!begun) {
        std::this_thread::yield();
    }
    endless.cancel();
    check(stopped->size() == 70, "a stop callback");

    spool::completion_service<std::string> service{pool};
    for (int i = 0; i < 5; ++i) {
        static_cast<void>(service.submit([i] { return std::string(40, static_cast<char>('a' + i)); }));
    }
    for (int i = 0; i < 5; ++i) {
        check(service.take().get().size() == 40, "completion_service");
    }
    spool::serial_executor lane{pool};
    std::vector<int> in_order;
    for (int i = 0; i < 100; ++i) {
        lane.execute([&in_order, i] { in_order.push_back(i); });
    }
    check(spool::submit(lane, [&in_order] { return in_order.size(); }).get() == 100, "serial_executor");
    check(pool.submit([&pool] { return fib(pool, 8); }).get() == 21, "fork and join");
    check(fib(pool, 8) == 21, "fork and join from outside");
    check(pool.submit([&pool] { return pool.submit([] { return std::string(44, 'i'); }).get(); })
                  .get()
                  .size() == 44,
          "nested");
    all_added.wait();  // the tasks of execute_all() write to `plain`
}

template <class Queue>
void use_queue() {
    Queue queue(16);
    std::thread producer{[&] {
        for (int i = 0; i < 200; ++i) {
            queue.put(std::make_unique<std::string>(std::string(40, 'q') + std::to_string(i)));
        }
    }};
    std::size_t sum = 0;
    for (int i = 0; i < 200; ++i) {
        sum += queue.take()->size();
    }
    producer.join();
    check(sum > 200 * 40, "a queue");
}

template <class Queue>
void use_task_queue() {
    Queue queue(8);
    std::vector<std::string> words(100);
    std::thread producer{[&] {
        for (auto& w : words) {
            w = std::string(40, 'w');
            queue.put(spool::task{[&w] { w += "!"; }});
        }
    }};
    for (auto& w : words) {
        queue.take()();
        check(w.size() == 41, "a queue of tasks");
    }
    producer.join();
}

void use_scheduler() {
    spool::scheduled_thread_pool_executor timers({.core_size = 2});
    std::string once;
    auto later = timers.schedule(
        [&once] {
            once = std::string(40, 'o');
            return once;
        },
        2ms);
    check(later.get() == once, "a timer");
    std::vector<int> runs;
    auto often =
        timers.schedule_at_fixed_rate([&runs] { runs.push_back(static_cast<int>(runs.size())); }, 0ms, 1ms);
    while (often.run_count() < 5) {
        std::this_thread::yield();
    }
    often.cancel();
    timers.shutdown();
    check(timers.await_termination(10s), "timers end");
    check(runs.size() >= 5, "periodic");
}

}  // namespace

int main() {
    {
        spool::thread_pool_executor pool = spool::fixed_thread_pool(3);
        use_pool(pool);
        use_loops(pool);
    }
    {
        spool::thread_pool_executor pool = spool::work_stealing_pool(3);
        use_pool(pool);
        use_loops(pool);
    }
    {
        spool::thread_pool_executor pool(
            {.core_size = 2,
             .maximum_size = 4,
             .keep_alive = 1ms,
             .queue = std::make_unique<spool::array_blocking_queue<spool::task>>(512),
             .rejection = spool::caller_runs_policy{}});
        use_pool(pool);
    }
    {
        spool::thread_pool_executor pool = spool::cached_thread_pool();
        use_pool(pool);
    }
    {
        spool::thread_pool_executor pool(
            {.core_size = 2,
             .maximum_size = 2,
             .queue = std::make_unique<spool::priority_blocking_queue<spool::task>>()});
        use_pool(pool);
    }
    {
        auto hooks = std::make_shared<counting_hooks>();
        spool::thread_pool_executor pool({.core_size = 2, .hooks = hooks, .task_times = true});
        use_pool(pool);
        std::vector<int> written(100);
        for (int& w : written) {
            pool.execute([&w] { w = 1; });
        }
        pool.shutdown();
        check(pool.await_termination(10s), "end");
        check(std::accumulate(written.begin(), written.end(), 0) == 100, "all ran");
        check(std::accumulate(hooks->seen.begin(), hooks->seen.end(), 0) > 200, "hooks");
        check(hooks->ended.size() > 10, "terminated");
    }
    {
        spool::thread_pool_executor pool = spool::fixed_thread_pool(2);
        std::vector<std::string> words(100);
        for (auto& w : words) {
            w = std::string(40, 'w');
            pool.execute([&w] { w += "!"; });
        }
        pool.close();
        for (auto& w : words) {
            check(w.size() == 41, "close");
        }
    }
    {
        spool::thread_pool_executor pool = spool::fixed_thread_pool(1);
        std::atomic<bool> go{false};
        pool.execute([&go] {
            while (!go) {
                std::this_thread::yield();
            }
        });
        for (int i = 0; i < 5; ++i) {
            pool.execute([s = std::string(50, 's')] { check(s.size() == 50, "handed back"); });
        }
        auto back = pool.shutdown_now();
        go = true;
        for (auto& t : back) {
            t();
        }
    }
    use_queue<spool::linked_blocking_queue<std::unique_ptr<std::string>>>();
    use_queue<spool::array_blocking_queue<std::unique_ptr<std::string>>>();
    use_task_queue<spool::linked_blocking_queue<spool::task>>();
    use_task_queue<spool::array_blocking_queue<spool::task>>();
    use_scheduler();
    std::puts("all is well");
}
