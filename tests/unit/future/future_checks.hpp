// Helpers that the tests of futures share: how a wait ended, threads that wait, and a callback on
// destruction.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "spool/base/error.hpp"
#include "support/gate.hpp"

namespace test {

/// How `wait()` ended: "ready", "cancelled", "interrupted", "timed out", or the what() of another
/// exception.
template <class Wait>
std::string answer_of(Wait wait) {
    try {
        wait();
    } catch (const spool::cancelled&) {
        return "cancelled";
    } catch (const spool::interrupted&) {
        return "interrupted";
    } catch (const spool::timed_out&) {
        return "timed out";
    } catch (const std::exception& e) {
        return e.what();
    }
    return "ready";
}

/// A thread that waits, and records how its wait ended.
class waiter {
public:
    template <class Wait>
    explicit waiter(Wait wait)
        : thread_([this, wait = std::move(wait)] {
              started_.open();
              answer_ = answer_of(wait);
              ended_.open();
          }) {
        started_.wait();
    }
    /// Blocks until the wait has ended, and returns how.
    [[nodiscard]] std::string answer() const { return ended_.opens() ? answer_ : "still waiting"; }
    [[nodiscard]] bool has_ended() const { return ended_.is_open(); }

private:
    gate started_;
    gate ended_;
    std::string answer_;   // written before ended_ opens, read after
    std::jthread thread_;  // last: joined before the other members are destroyed
};

/// For a callable to own, by move or copy: calls `f` when the last copy is destroyed.
template <class F>
[[nodiscard]] std::shared_ptr<void> at_end(F f) {
    return std::shared_ptr<void>{static_cast<void*>(nullptr), [f](void*) { f(); }};
}

/// Calls `f` with the extreme time limits: the most negative, -1, 0, 1 and the largest, in several
/// units.
template <class F>
void for_any_timeout(F f) {
    const auto in_unit = [&f]<class D>(D) {
        f(D::min());
        f(D{-1});
        f(D::zero());
        f(D{1});
        f(D::max());
    };
    in_unit(std::chrono::nanoseconds{});
    in_unit(std::chrono::milliseconds{});
    in_unit(std::chrono::hours{});
    in_unit(std::chrono::duration<double>{});
}

}  // namespace test
