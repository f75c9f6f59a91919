// pool_handle and all_pools(): weak, and safe while pools come and go.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "measure_helpers.hpp"
#include "support/gate.hpp"

namespace {

using namespace std::chrono_literals;

std::vector<spool::pool_handle> pools_named(const std::string& name) {
    std::vector<spool::pool_handle> found;
    for (const spool::pool_handle& h : spool::all_pools()) {
        if (h.name() == name) {
            found.push_back(h);
        }
    }
    return found;
}

}  // namespace

TEST(pool_handles, list_every_pool_of_the_process_and_act_on_it) {
    spool::thread_pool_executor first({.name = "handles-a", .core_size = 1, .maximum_size = 2});
    spool::scheduled_thread_pool_executor second({.name = "handles-b", .core_size = 1});
    ASSERT_EQ(pools_named("handles-a").size(), 1U);
    ASSERT_EQ(pools_named("handles-b").size(), 1U);
    const spool::pool_handle handle = pools_named("handles-a").front();
    EXPECT_EQ(handle, first.weak_handle());
    EXPECT_FALSE(handle.is_gone());
    first.submit([] {}).get();
    EXPECT_EQ(handle.read()->started, 1U);
    EXPECT_EQ(handle.workers()->size(), 1U);
    EXPECT_EQ(handle.apply({.maximum_size = 5})->version, 1U);
    EXPECT_EQ(first.maximum_size(), 5U);
    EXPECT_THROW(handle.apply({.maximum_size = 0}), spool::invalid_settings);
    EXPECT_NE(handle.describe()->find("handles-a"), std::string::npos);
}

TEST(pool_handles, answer_gone_after_the_pool) {
    std::optional<spool::pool_handle> handle;
    {
        spool::thread_pool_executor pool({.name = "handles-gone", .core_size = 1, .maximum_size = 1});
        handle = pool.weak_handle();
        pool.submit([] {}).get();
        pool.close();
        EXPECT_EQ(handle->read()->numbers.state, spool::run_state::terminated) << "closed, but there";
    }
    EXPECT_TRUE(handle->is_gone());
    EXPECT_FALSE(handle->read().has_value());
    EXPECT_FALSE(handle->workers().has_value());
    EXPECT_FALSE(handle->describe().has_value());
    EXPECT_FALSE(handle->apply({.core_size = 1}).has_value());
    EXPECT_EQ(handle->name(), "handles-gone");
    EXPECT_TRUE(pools_named("handles-gone").empty());
}

// The destructor waits for a visit: here one that is inside the user's thread factory.
TEST(pool_handles, keep_the_destructor_waiting_while_a_call_is_under_way) {
    test::gate in_factory;
    test::gate release;
    std::atomic<bool> destroyed{false};
    const spool::thread_factory ordinary = spool::worker_thread_factory();
    auto pool = std::make_unique<spool::thread_pool_executor>(
        spool::pool_options{.name = "handles-visit",
                            .core_size = 1,
                            .maximum_size = 4,
                            .thread_factory = [&](spool::task body, const spool::worker_info& info) {
                                if (info.number > 1) {
                                    in_factory.open();
                                    release.wait();
                                }
                                return ordinary(std::move(body), info);
                            }});
    test::gate hold;
    pool->execute([&] { hold.wait(); });
    pool->execute([] {});
    const spool::pool_handle handle = pool->weak_handle();
    std::thread visitor{[&] { handle.apply({.core_size = 2}); }};
    ASSERT_TRUE(in_factory.opens());
    hold.open();
    std::thread destroyer{[&] {
        pool.reset();
        destroyed = true;
    }};
    EXPECT_TRUE(test::eventually([&] {
        const auto r = handle.read();
        return !r.has_value() || r->numbers.state != spool::run_state::running;
    }));
    EXPECT_FALSE(destroyed);
    release.open();
    visitor.join();
    destroyer.join();
    EXPECT_TRUE(handle.is_gone());
}

TEST(pool_handles, survive_many_pools_that_come_and_go_while_they_are_read) {
    std::atomic<bool> done{false};
    std::atomic<std::uint64_t> readings{0};
    std::thread reader{[&] {
        while (!done) {
            for (const spool::pool_handle& h : spool::all_pools()) {
                readings += h.read().has_value() ? 1 : 0;
                static_cast<void>(h.workers());
            }
        }
    }};
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    constexpr int pools = 5'000;
#else
    constexpr int pools = 100'000;
#endif
    for (int i = 0; i < pools; ++i) {
        spool::thread_pool_executor pool({.name = "short", .core_size = 1, .maximum_size = 1});
        if (i % 50 == 0) {
            pool.submit([] {}).get();
        }
    }
    done = true;
    reader.join();
    EXPECT_GT(readings, 0U);
}

TEST(pool_handles, are_gone_in_a_forked_child) {
    spool::thread_pool_executor pool({.name = "handles-fork", .core_size = 1, .maximum_size = 1});
    pool.submit([] {}).get();
    const spool::pool_handle handle = pool.weak_handle();
    const pid_t child = ::fork();
    if (child == 0) {
        const bool gone = handle.is_gone() && !handle.read().has_value() && spool::all_pools().empty();
        ::_exit(gone ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    EXPECT_FALSE(handle.is_gone());
}
