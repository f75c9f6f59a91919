// The default factory and its settings: names, stack, affinity, nice value, callbacks.
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "pool_helpers.hpp"
#include "support/eventually.hpp"
#include "support/throws.hpp"

namespace {

// Returns the result of `f` on a worker of a pool with this name and these settings.
template <class F>
auto on_a_worker(const std::string& name, spool::worker_thread_options options, F f) {
    spool::thread_pool_executor pool(
        {.name = name, .core_size = 1, .thread_factory = spool::worker_thread_factory(std::move(options))});
    auto answer = pool.submit(std::move(f)).get();
    pool.close();
    return answer;
}

spool::worker_thread_options with_pattern(std::string pattern) {
    spool::worker_thread_options options;
    options.name_pattern = std::move(pattern);
    return options;
}

std::string refusal(spool::worker_thread_options options) {
    spool::thread_pool_executor pool({.name = "refused",
                                      .core_size = 1,
                                      .thread_factory = spool::worker_thread_factory(std::move(options))});
    std::string what = test::what_of<std::system_error>([&] { pool.execute([] {}); });
    EXPECT_EQ(pool.pool_size(), 0U);
    EXPECT_TRUE(test::contains(what, "refused-1")) << what;
    pool.close();
    return what;
}

// The CPUs that the calling thread may run on.
std::vector<int> own_cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    std::vector<int> cpus;
    sched_getaffinity(0, sizeof(set), &set);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) {
            cpus.push_back(cpu);
        }
    }
    return cpus;
}
// Up to four of the CPUs that the calling thread may run on.
std::vector<int> allowed_cpus() {
    std::vector<int> cpus = own_cpus();
    cpus.resize(std::min<std::size_t>(cpus.size(), 4));
    return cpus;
}

spool::worker_info worker(const std::string& pool, std::size_t number) {
    return {.pool = pool, .number = number, .name = pool + "-" + std::to_string(number)};
}

}  // namespace

TEST(worker_thread_factory, fills_the_pattern_in_and_names_the_thread) {
    EXPECT_EQ(on_a_worker("decode", {}, [] { return test::own_thread_name(); }), "decode-1");
    EXPECT_EQ(
        on_a_worker("decode", with_pattern("{number} of {pool}"), [] { return test::own_thread_name(); }),
        "1 of decode");
}

TEST(worker_thread_factory, cuts_a_long_name_at_the_front_part_so_that_the_number_survives) {
    EXPECT_EQ(on_a_worker("a-very-long-pool-name", {}, [] { return test::own_thread_name(); }),
              "a-very-long-p-1");
}

TEST(worker_thread_factory, worker_thread_name_keeps_what_follows_the_pool) {
    EXPECT_EQ(spool::worker_thread_name("{pool}-{number}", worker("abcdefgh", 7), 15), "abcdefgh-7");
    EXPECT_EQ(spool::worker_thread_name("{pool}-{number}", worker("abcdefghijklm", 7), 15),
              "abcdefghijklm-7");
    EXPECT_EQ(spool::worker_thread_name("{pool}-{number}", worker("abcdefghijklmn", 7), 15),
              "abcdefghijklm-7");
    EXPECT_EQ(spool::worker_thread_name("{pool}-{number}", worker("abcdefghijklmn", 1234567), 15),
              "abcdefg-1234567");
    EXPECT_EQ(spool::worker_thread_name("{pool}-{number}", worker("ab", 123), 3), "123");
    EXPECT_EQ(spool::worker_thread_name("a long name of its own {number}", worker("x", 42), 15),
              "e of its own 42");
    EXPECT_EQ(spool::worker_thread_name("fixed", worker("x", 42), 15), "fixed");
    EXPECT_EQ(spool::worker_thread_name("", worker("x", 42), 15), "");
}

TEST(worker_thread_factory, gives_the_thread_the_stack_that_was_asked_for) {
    spool::worker_thread_options options;
    // More than the default: a smaller request may be served from a larger, cached stack.
    options.stack_size = 96 * 1024 * 1024;
    const std::size_t size = on_a_worker("stack", options, [] {
        pthread_attr_t attributes;
        std::size_t bytes = 0;
        if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
            pthread_attr_getstacksize(&attributes, &bytes);
            pthread_attr_destroy(&attributes);
        }
        return bytes;
    });
    EXPECT_GE(size, 96U * 1024 * 1024);
}

TEST(worker_thread_factory, keeps_the_thread_on_the_cpus_that_were_asked_for) {
    const int last = own_cpus().back();
    spool::worker_thread_options options;
    options.affinity = {last};
    const std::vector<int> got = on_a_worker("pinned", options, [] { return own_cpus(); });
    EXPECT_EQ(got, std::vector<int>{last});
}

TEST(worker_thread_factory, sets_the_nice_value_of_the_thread_alone) {
    const int before = getpriority(PRIO_PROCESS, 0);
    if (before > 5) {
        GTEST_SKIP() << "this process is nicer already";
    }
    spool::worker_thread_options options;
    options.nice = 5;
    const int nice = on_a_worker(
        "nice", options, [] { return getpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid))); });
    EXPECT_EQ(nice, 5);
    EXPECT_EQ(getpriority(PRIO_PROCESS, 0), before);
}

TEST(worker_thread_factory, names_the_setting_that_the_system_refuses) {
    spool::worker_thread_options far_away;
    far_away.affinity = {1'000'000};
    EXPECT_TRUE(test::contains(refusal(far_away), "CPU 1000000"));
    spool::worker_thread_options negative;
    negative.affinity = {-1};
    EXPECT_TRUE(test::contains(refusal(negative), "CPU -1"));
    spool::worker_thread_options tiny;
    tiny.stack_size = 1;
    EXPECT_TRUE(test::contains(refusal(tiny), "stack size 1"));
    spool::worker_thread_options absent;
    absent.affinity = {CPU_SETSIZE - 1};
    if (sysconf(_SC_NPROCESSORS_CONF) < CPU_SETSIZE) {
        const std::string cpu = "affinity to CPU " + std::to_string(CPU_SETSIZE - 1);
        EXPECT_TRUE(test::contains(refusal(absent), cpu)) << refusal(absent);
        // One CPU of the two is absent.
        absent.affinity = {allowed_cpus().front(), CPU_SETSIZE - 1};
        EXPECT_TRUE(test::contains(refusal(absent), cpu)) << refusal(absent);
        spool::worker_thread_options second;
        second.affinity_per_thread = {{CPU_SETSIZE - 1}};
        EXPECT_TRUE(test::contains(refusal(second), cpu)) << refusal(second);
    }
}

TEST(worker_thread_factory, runs_a_task_on_each_cpu_that_was_given_to_one_thread) {
    const std::vector<int> cpus = allowed_cpus();
    spool::worker_thread_options options;
    for (const int cpu : cpus) {
        options.affinity_per_thread.push_back({cpu});
    }
    spool::thread_pool_executor pool({.name = "each",
                                      .core_size = cpus.size(),
                                      .thread_factory = spool::worker_thread_factory(std::move(options)),
                                      .uncaught = test::quiet()});
    // Two rounds: each worker of the first round dies, and its successor gets its CPU.
    for (int round = 0; round < 2; ++round) {
        test::record<std::vector<int>> got;
        test::gate all_there;
        for (std::size_t i = 0; i < cpus.size(); ++i) {
            pool.execute([&] {
                got.add(own_cpus());
                all_there.wait();
                throw std::runtime_error("this worker dies");
            });
        }
        ASSERT_TRUE(test::eventually([&] { return got.size() == cpus.size(); }));
        std::vector<std::vector<int>> all = got.all();
        std::sort(all.begin(), all.end());
        std::vector<std::vector<int>> wanted;
        for (const int cpu : cpus) {
            wanted.push_back({cpu});
        }
        EXPECT_EQ(all, wanted);
        all_there.open();
        ASSERT_TRUE(test::eventually([&] { return pool.active_count() == 0; }));
    }
}

TEST(worker_thread_factory, gives_a_set_of_cpus_to_a_new_thread_when_its_thread_has_ended) {
    const int cpu = allowed_cpus().front();
    spool::worker_thread_options options;
    options.affinity_per_thread = {{cpu}, {}};
    const spool::thread_factory factory = spool::worker_thread_factory(std::move(options));
    for (int round = 0; round < 3; ++round) {  // only one thread exists: always the first set
        std::vector<int> got;
        spool::worker_thread thread = factory([&got] { got = own_cpus(); }, worker("turn", 1));
        thread.join();
        EXPECT_EQ(got, std::vector<int>{cpu});
    }
}

TEST(worker_thread_factory, calls_on_start_and_on_exit_once_on_each_thread) {
    test::record<std::thread::id> started;
    test::record<std::thread::id> exited;
    test::record<std::thread::id> worked;
    std::atomic<std::size_t> numbers{0};
    spool::worker_thread_options options;
    options.on_start = [&](const spool::worker_info& w) {
        started.add(std::this_thread::get_id());
        numbers += w.number;
    };
    options.on_exit = [&](const spool::worker_info&) { exited.add(std::this_thread::get_id()); };
    {
        test::busy_workers busy;
        spool::thread_pool_executor pool(
            {.core_size = 3, .thread_factory = spool::worker_thread_factory(options)});
        const test::open_at_end guard{busy.release_gate()};
        for (int i = 0; i < 3; ++i) {
            pool.execute([&] {
                worked.add(std::this_thread::get_id());
                busy.release_gate().wait();
            });
        }
        ASSERT_TRUE(test::eventually([&] { return worked.size() == 3; }));
        EXPECT_EQ(exited.size(), 0U);
    }
    ASSERT_EQ(started.size(), 3U);
    ASSERT_EQ(exited.size(), 3U);  // the destructor joins, so on_exit has run
    EXPECT_EQ(numbers, 6U);        // workers 1, 2 and 3
    for (const std::thread::id id : worked.all()) {
        EXPECT_EQ(started.count(id), 1U);
        EXPECT_EQ(exited.count(id), 1U);
    }
}

TEST(worker_thread_factory, reports_what_on_start_and_on_exit_throw_and_works_all_the_same) {
    spool::worker_thread_options options;
    options.on_start = [](const spool::worker_info&) { throw std::runtime_error("bad start"); };
    options.on_exit = [](const spool::worker_info&) { throw std::runtime_error("bad exit"); };
    testing::internal::CaptureStderr();
    EXPECT_EQ(on_a_worker("loud", options, [] { return 1; }), 1);
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_TRUE(test::contains(text, "thread loud-1, on_start: bad start")) << text;
    EXPECT_TRUE(test::contains(text, "thread loud-1, on_exit: bad exit")) << text;
}

TEST(worker_thread_factory, reports_what_a_body_throws_that_is_no_pools) {
    testing::internal::CaptureStderr();
    const spool::thread_factory start = spool::worker_thread_factory();
    start([] { throw std::runtime_error("bad body"); }, {.pool = "own", .number = 1, .name = "own-1"}).join();
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_EQ(text, "spool: uncaught exception in thread own-1: bad body\n");
}

TEST(worker_thread_factory, a_lambda_that_returns_a_std_thread_is_a_factory) {
    test::record<std::string> made;
    spool::thread_pool_executor pool(
        {.name = "plain",
         .core_size = 2,
         .thread_factory = [&](spool::task body, const spool::worker_info& info) {
             made.add(info.pool + " " + std::to_string(info.number) + " " + info.name);
             return std::thread{std::move(body)};
         }});
    EXPECT_EQ(pool.prestart_all_core_threads(), 2U);
    EXPECT_EQ(pool.submit([] { return 3; }).get(), 3);
    pool.close();
    EXPECT_EQ(made.all(), (std::vector<std::string>{"plain 1 plain-1", "plain 2 plain-2"}));
}

TEST(worker_thread_factory, a_std_thread_that_is_none_makes_no_worker_thread) {
    const spool::worker_thread none{std::thread{}};
    EXPECT_FALSE(none);
}

TEST(worker_thread_factory, a_std_thread_goes_on_after_it_was_detached) {
    const auto go = std::make_shared<test::gate>();  // outlives the detached thread
    const auto went = std::make_shared<test::gate>();
    spool::worker_thread thread{std::thread{[go, went] {
        go->wait();
        went->open();
    }}};
    thread.detach();
    EXPECT_FALSE(thread);
    go->open();
    EXPECT_TRUE(went->opens());
}

TEST(worker_thread_factory, a_handle_of_another_kind_is_joined_or_detached_once) {
    struct counting_handle : spool::worker_thread::handle {
        counting_handle(std::thread t, std::atomic<int>& j) : thread(std::move(t)), joins(j) {}
        void join() override {
            thread.join();
            ++joins;
        }
        void detach() override { thread.detach(); }
        std::thread thread;
        std::atomic<int>& joins;
    };
    std::atomic<int> joins{0};
    {
        spool::thread_pool_executor pool(
            {.core_size = 3, .thread_factory = [&](spool::task body, const spool::worker_info&) {
                 return spool::worker_thread{
                     std::make_unique<counting_handle>(std::thread{std::move(body)}, joins)};
             }});
        EXPECT_EQ(pool.prestart_all_core_threads(), 3U);
    }
    EXPECT_EQ(joins, 3);
}

TEST(worker_thread_factory, no_thread_is_left_after_destruction) {
    // Any helper threads that the first pool starts exist before the count.
    spool::thread_pool_executor{{.core_size = 1}}.submit([] {}).get();
    const std::size_t before = test::thread_count();
    {
        spool::thread_pool_executor pool({.core_size = 8, .uncaught = test::quiet()});
        EXPECT_EQ(pool.prestart_all_core_threads(), 8U);
        EXPECT_GE(test::thread_count(), 9U);  // the workers and the main thread
        for (int i = 0; i < 8; ++i) {
            pool.execute([] { throw std::runtime_error("on purpose"); });
        }
    }
    // The system may still list a thread for a moment after it was joined.
    EXPECT_TRUE(test::eventually([&] { return test::thread_count() <= before; }));
}

TEST(worker_thread_factory, at_most_one_thread_that_ended_stays_unjoined) {
    const std::size_t before = test::thread_count();
    std::atomic<int> ended_threads{0};
    struct counter {
        explicit counter(std::atomic<int>& c) : count(c) {}
        ~counter() { ++count; }
        std::atomic<int>& count;
    };
    spool::thread_pool_executor pool({.core_size = 1, .uncaught = test::quiet()});
    for (int i = 0; i < 20; ++i) {
        pool.execute([&ended_threads] {
            thread_local counter at_thread_end{ended_threads};
            throw std::runtime_error("on purpose");
        });
    }
    pool.submit([] {}).get();
    EXPECT_TRUE(test::eventually([&] { return test::thread_count() <= before + 2; }));
    pool.close();
    EXPECT_EQ(ended_threads, 20);  // joined, so their thread_local destructors have run
}
