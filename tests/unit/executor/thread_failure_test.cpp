// What happens when the system provides no thread. A program of its own, because it replaces
// pthread_create.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "spool/executor/thread_per_task_executor.hpp"
#include "support/gate.hpp"
#include "support/tracked.hpp"

namespace {

using spool::thread_per_task_executor;

std::atomic<int> threads_left{1'000'000};  // how many more may be started
std::atomic<int> threads_refused{0};

using create_function = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                              void* argument) noexcept {
    if (threads_left.fetch_sub(1) <= 0) {
        ++threads_refused;
        return EAGAIN;
    }
    static const auto real = reinterpret_cast<create_function>(dlsym(RTLD_NEXT, "pthread_create"));
    return real(thread, attributes, start, argument);
}

namespace {

class thread_failure : public testing::Test {
protected:
    void TearDown() override { allow(1'000'000); }
    static void allow(int n) {
        threads_left = n;
        threads_refused = 0;
    }
};

TEST_F(thread_failure, a_task_without_a_thread_is_refused_with_reason_no_thread) {
    test::gate release;
    std::atomic<int> alive{0};
    thread_per_task_executor threads{"io"};
    const test::open_at_end at_end{release};
    allow(1);
    threads.execute([&] { release.wait(); });
    try {
        threads.execute([guard = test::tracked{alive}] {});
        FAIL() << "accepted without a thread";
    } catch (const spool::rejected_execution& e) {
        EXPECT_EQ(e.reason(), spool::rejection_reason::no_thread);
        EXPECT_EQ(e.executor(), "thread_per_task_executor \"io\"");
        const std::string text = e.what();  // the standard library may add text
        EXPECT_TRUE(text.starts_with("thread_per_task_executor \"io\": task rejected, no thread (")) << text;
        EXPECT_TRUE(text.ends_with("Resource temporarily unavailable; threads running 1)")) << text;
    }
    EXPECT_EQ(threads_refused, 1);
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(threads.thread_count(), 1U);
}

TEST_F(thread_failure, the_executor_stays_usable_and_can_be_closed) {
    thread_per_task_executor threads;
    allow(0);
    EXPECT_THROW((void)threads.submit([] { return 7; }), spool::rejected_execution);
    allow(100);
    EXPECT_EQ(threads.submit([] { return 7; }).get(), 7);
    allow(0);
    EXPECT_THROW(threads.execute([] {}), spool::rejected_execution);
    threads.close();
    EXPECT_TRUE(threads.is_terminated());
}

TEST_F(thread_failure, the_refused_task_is_destroyed_where_it_may_use_the_executor) {
    struct asks {
        thread_per_task_executor* threads;
        bool* asked;
        asks(thread_per_task_executor* t, bool* a) : threads(t), asked(a) {}
        asks(asks&& other) noexcept : threads(std::exchange(other.threads, nullptr)), asked(other.asked) {}
        ~asks() {
            if (threads != nullptr) {
                *asked = threads->thread_count() == 0;
            }
        }
        void operator()() const {}
    };
    bool asked = false;
    thread_per_task_executor threads;
    allow(0);
    EXPECT_THROW(threads.execute(asks{&threads, &asked}), spool::rejected_execution);
    EXPECT_TRUE(asked);
}

TEST_F(thread_failure, invoke_all_that_runs_out_of_threads_stops_the_tasks_it_started) {
    std::atomic<int> stopped{0};
    thread_per_task_executor threads;
    allow(2);
    const auto waits_for_stop = [&](std::stop_token stop) {
        test::gate woken;
        const std::stop_callback on_stop{stop, [&] { woken.open(); }};
        stopped += woken.opens() ? 1 : 0;
    };
    const std::vector<std::function<void(std::stop_token)>> tasks(4, waits_for_stop);
    EXPECT_THROW((void)threads.invoke_all(tasks), spool::rejected_execution);
    threads.close();
    // A task that is cancelled before it begins never runs.
    EXPECT_LE(stopped, 2);
    EXPECT_EQ(threads_refused, 1);
}

}  // namespace
