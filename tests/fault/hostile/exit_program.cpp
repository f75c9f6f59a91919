// Ways to end a process while pools live. The first argument chooses one. Exit code 0: every task
// that had to run has run.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include <spool/spool.hpp>

namespace {

using spool::thread_pool_executor;

std::atomic<int> ran{0};
std::atomic<int> wanted{0};

// Constructed before the pools, so destroyed after them. Its destructor checks that everything has
// run.
struct verdict {
    ~verdict() {
        if (ran != wanted) {
            std::fprintf(stderr, "ran %d of %d\n", ran.load(), wanted.load());
            std::_Exit(1);
        }
    }
} at_the_end;

std::unique_ptr<thread_pool_executor> static_pool;

void fill(thread_pool_executor& pool, int n) {
    wanted += n;
    for (int i = 0; i < n; ++i) {
        pool.execute([] { ++ran; });
    }
}

std::unique_ptr<thread_pool_executor> make_pool() {
    return std::make_unique<thread_pool_executor>(spool::pool_options{.name = "exit", .core_size = 2});
}

// A static destructor closes a pool whose tasks still submit.
void exit_while_tasks_run() {
    static_pool = make_pool();
    // static_pool may already be empty while it destroys its pool.
    thread_pool_executor& pool = *static_pool;
    wanted += 3;
    pool.execute([&pool] {
        while (!pool.is_shutdown()) {
            std::this_thread::yield();
        }
        ++ran;
        try {
            pool.execute([] {});
        } catch (const spool::rejected_execution&) {
            ++ran;  // counts the refusal
        }
    });
    pool.execute([] { ++ran; });
    fill(pool, 1000);
    std::exit(0);
}

void destroy_by_atexit() {
    static_pool = make_pool();
    std::atexit([] { static_pool.reset(); });
    fill(*static_pool, 1000);
    std::exit(0);
}

// exit() inside a task: the static pool is destroyed on one of its own workers.
void exit_in_a_task() {
    static_pool = make_pool();
    fill(*static_pool, 100);
    static_pool->execute([] { std::exit(0); });
    for (;;) {
        std::this_thread::yield();
    }
}

// The pool lives on the stack of main(), and so is never destroyed: its tasks run until the process
// ends.
void exit_with_a_pool_on_the_stack() {
    thread_pool_executor pool({.name = "exit", .core_size = 2});
    std::atomic<bool> running{false};
    pool.execute([&running] {
        running = true;
        spool::this_task::sleep_for(std::chrono::hours{1});
    });
    while (!running) {
        std::this_thread::yield();
    }
    std::exit(0);
}

// A static destructor makes, uses and destroys a pool, after the other statics are destroyed.
struct late_user {
    bool used = false;
    ~late_user() {
        if (used) {
            auto pool = make_pool();
            fill(*pool, 100);
            ran += pool->submit([] { return 1; }).get();
            ++wanted;
        }
    }
} late;

// A thread_local of the main thread is destroyed before the statics.
void use_by_a_thread_local() {
    struct last_words {
        ~last_words() { fill(*static_pool, 100); }
    };
    static_pool = make_pool();
    thread_local last_words here;
    static_cast<void>(&here);
    std::exit(0);
}

}  // namespace

int main(int count, char** arguments) {
    const std::string way = count > 1 ? arguments[1] : "";
    if (way == "while_tasks_run") {
        exit_while_tasks_run();
    } else if (way == "by_atexit") {
        destroy_by_atexit();
    } else if (way == "in_a_task") {
        exit_in_a_task();
    } else if (way == "on_the_stack") {
        exit_with_a_pool_on_the_stack();
    } else if (way == "in_a_static_destructor") {
        late.used = true;
    } else if (way == "by_a_thread_local") {
        use_by_a_thread_local();
    } else {
        std::fprintf(stderr, "which way?\n");
        return 2;
    }
    return 0;
}
