// Helpers that the pool's conformance tests share: pools as the original suite builds them, tasks
// that block, and an orderly end.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "spool/pool/thread_pool_executor.hpp"
#include "spool/queue/array_blocking_queue.hpp"
#include "spool/queue/linked_blocking_queue.hpp"
#include "support/blocker.hpp"
#include "support/delays.hpp"
#include "support/eventually.hpp"
#include "support/gate.hpp"
#include "support/throws.hpp"

namespace conformance {

/// What -1 becomes when it is converted to a size.
inline constexpr std::size_t minus_one = std::numeric_limits<std::size_t>::max();

using array_queue = spool::array_blocking_queue<spool::task>;
using linked_queue = spool::linked_blocking_queue<spool::task>;

/// A pool named "tck" with a bounded queue and a keep-alive longer than any test.
template <class Queue = array_queue>
[[nodiscard]] spool::pool_options sized(std::size_t core, std::size_t maximum, std::size_t places = 10) {
    return {.name = "tck",
            .core_size = core,
            .maximum_size = maximum,
            .keep_alive = test::long_delay(),
            .queue = std::make_unique<Queue>(places)};
}

/// The usual pool: 2 core workers, at most 6.
template <class Queue = array_queue>
[[nodiscard]] spool::pool_options two_to_six() {
    return sized<Queue>(2, 6);
}

/// Starts plain threads; equal only to its own copies.
[[nodiscard]] inline spool::thread_factory plain_factory() {
    return [](spool::task body, const spool::worker_info&) { return std::thread{std::move(body)}; };
}

/// A policy that does nothing; equal only to its own copies.
[[nodiscard]] inline spool::rejection_policy silent_policy() {
    return [](spool::task&&, spool::rejection_reason, spool::thread_pool_executor&) {};
}

using test::blocker;

/// Releases the held tasks, shuts the pool down and waits for its termination. Returns false if the
/// pool does not terminate.
[[nodiscard]] inline bool ends(spool::thread_pool_executor& pool, blocker& held) {
    held.release();
    pool.shutdown();
    return pool.await_termination(test::long_delay());
}
[[nodiscard]] inline bool ends(spool::thread_pool_executor& pool) {
    pool.shutdown();
    return pool.await_termination(test::long_delay());
}

/// Ends the pool however the test is left; the test fails if the pool does not terminate. Declare
/// it right after the pool.
class ended_at_last {
public:
    explicit ended_at_last(spool::thread_pool_executor& pool) : pool_(pool) {}
    ended_at_last(spool::thread_pool_executor& pool, blocker& held) : pool_(pool), held_(&held) {}
    ended_at_last(const ended_at_last&) = delete;
    ended_at_last& operator=(const ended_at_last&) = delete;
    ~ended_at_last() {
        EXPECT_TRUE(held_ != nullptr ? ends(pool_, *held_) : ends(pool_)) << pool_.describe();
    }

private:
    spool::thread_pool_executor& pool_;
    blocker* held_ = nullptr;
};

/// Expects that `f()` throws std::invalid_argument, with a text that names the pool and contains
/// `reason`.
template <class F>
void expect_refused(F f, std::string_view reason) {
    const std::string text = test::what_of<std::invalid_argument>(f);
    EXPECT_NE(text.find("\"tck\""), std::string::npos) << text;
    EXPECT_NE(text.find(reason), std::string::npos) << text << "\ndoes not say: " << reason;
}

}  // namespace conformance
