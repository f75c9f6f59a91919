// Helpers that the conformance tests of the scheduled pool share, in addition to those of the pool.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "spool/schedule/scheduled_thread_pool_executor.hpp"
#include "spool/testing/manual_clock.hpp"
#include "unit/pool/conformance/conformance_pool.hpp"

namespace conformance {

/// A clock that stands still until the test moves it.
[[nodiscard]] inline std::shared_ptr<spool::testing::manual_clock> standing_clock() {
    return std::make_shared<spool::testing::manual_clock>();
}

/// A scheduler named "tck" with this many workers, on the real clocks unless another clock is
/// given.
[[nodiscard]] inline spool::scheduled_pool_options scheduler_of(
    std::size_t workers, std::shared_ptr<spool::clock_source> clock = nullptr) {
    return {.name = "tck", .core_size = workers, .clock = std::move(clock)};
}

[[nodiscard]] inline bool is_queued(spool::thread_pool_executor& pool, spool::task_id id) {
    return pool.queue().contains([id](const spool::task& t) { return t.id() == id; });
}
template <class T>
[[nodiscard]] bool is_queued(spool::thread_pool_executor& pool, const spool::future<T>& f) {
    return is_queued(pool, f.id());
}

}  // namespace conformance
