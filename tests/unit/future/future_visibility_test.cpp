// What the body did is visible to every thread that knows that the body has ended. The data here
// are plain on purpose: ThreadSanitizer is the judge.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "future_checks.hpp"
#include "spool/future/future_task.hpp"
#include "support/eventually.hpp"

namespace {

using spool::future;
using spool::future_task;

struct way_to_know {
    const char* name;
    std::function<void(const future<int>&)> learn;
};

const std::vector<way_to_know>& ways_to_know() {
    static const std::vector<way_to_know> ways = {
        {"get", [](const future<int>& f) { f.get(); }},
        {"get_for", [](const future<int>& f) { f.get_for(test::long_delay()); }},
        {"wait", [](const future<int>& f) { f.wait(); }},
        {"wait_for", [](const future<int>& f) { EXPECT_TRUE(f.wait_for(test::long_delay())); }},
        {"is_done", [](const future<int>& f) { EXPECT_TRUE(test::eventually([&] { return f.is_done(); })); }},
        {"state",
         [](const future<int>& f) {
             EXPECT_TRUE(test::eventually([&] { return f.state() == spool::future_state::succeeded; }));
         }},
    };
    return ways;
}

}  // namespace

TEST(future_visibility, what_the_body_did_is_visible_to_who_knows_it_is_done) {
    for (const way_to_know& way : ways_to_know()) {
        std::array<int, 64> written{};
        future_task<int> t{[&] {
            written.fill(1);
            return 7;
        }};
        const std::jthread runner{[&] { t.run(); }};
        way.learn(t);
        EXPECT_EQ(written.front() + written.back(), 2) << way.name;
        EXPECT_EQ(t.result_now(), 7) << way.name;
    }
}

TEST(future_visibility, what_came_before_set_value_is_visible_to_who_knows_it_is_done) {
    for (const way_to_know& way : ways_to_know()) {
        int written = 0;
        future_task<int> t{[] { return 7; }};
        const std::jthread setter{[&] {
            written = 1;
            t.set_value(8);
        }};
        way.learn(t);
        EXPECT_EQ(written, 1) << way.name;
    }
}

TEST(future_visibility, what_came_before_a_cancel_is_visible_to_who_is_told) {
    int written = 0;
    const future_task<int> t{[] { return 7; }};
    const std::jthread canceller{[&] {
        written = 1;
        t.cancel();
    }};
    EXPECT_THROW(t.get(), spool::cancelled);
    EXPECT_EQ(written, 1);
}

TEST(future_visibility, what_came_before_a_cancel_is_visible_to_the_body_that_is_stopped) {
    int written = 0;
    test::gate running;
    future_task<void> t{[&](std::stop_token stop) {
        running.open();
        while (!stop.stop_requested()) {
            std::this_thread::yield();
        }
        EXPECT_EQ(written, 1);
    }};
    const std::jthread runner{[&] { t.run(); }};
    running.wait();
    written = 1;
    t.cancel();
}

TEST(future_visibility, what_the_body_did_is_visible_to_a_late_callback_on_another_thread) {
    int written = 0;
    int seen = 0;
    future_task<int> t{[&] { return written = 1; }};
    const std::jthread runner{[&] { t.run(); }};
    EXPECT_TRUE(test::eventually([&] { return t.is_done(); }));
    test::gate called;
    t.on_done([&] {
        seen = written;
        called.open();
    });
    EXPECT_TRUE(called.opens());
    EXPECT_EQ(seen, 1);
}

TEST(future_visibility, what_other_handles_did_comes_before_the_value_is_moved_out) {
    auto parts = future_task<std::string>{[] { return std::string(100, 'x'); }}.split();
    parts.work();
    parts.work = nullptr;
    std::size_t length = 0;
    std::jthread reader{[&length, f = parts.handle]() mutable {
        length = f.get().size();
        f = {};
    }};
    // A move or a copy, but never a move while the reader reads.
    const std::string text = std::move(parts.handle).get();
    EXPECT_EQ(text, std::string(100, 'x'));
    reader.join();
    EXPECT_EQ(length, 100U);
}

// ThreadSanitizer does not see how the C++ library counts references to an exception. The flag is
// relaxed, so that it orders nothing itself.
TEST(future_visibility, an_exception_that_another_thread_has_read_is_released_without_a_report) {
    auto parts = future_task<int>{[]() -> int { throw std::runtime_error("read"); }}.split();
    std::atomic<bool> has_read{false};
    std::jthread runner{[&has_read, work = std::move(parts.work)]() mutable {
        work();
        while (!has_read.load(std::memory_order_relaxed)) {
            std::this_thread::yield();
        }
        work = nullptr;  // drops the last reference to the state, and to the exception
    }};
    try {
        [[maybe_unused]] const int value = std::exchange(parts.handle, {}).get();
        ADD_FAILURE() << "the body throws";
    } catch (const std::runtime_error& e) {
        EXPECT_STREQ(e.what(), "read");
    }
    has_read.store(true, std::memory_order_relaxed);  // this thread's reference is gone
}
