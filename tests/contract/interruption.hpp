// Checks that a stop request ends a wait. Each call under test has two forms: one that watches the
// stop of the current task, and one that watches a token given by the caller.
#pragma once

#include <gtest/gtest.h>

#include <stop_token>

#include "spool/base/error.hpp"
#include "spool/detail/task_scope.hpp"
#include "support/stopped_token.hpp"
#include "unit/sync/in_background.hpp"

namespace test {

/// Requests a stop at the end of the scope, to end the wait of a background call also if a check
/// fails.
class stop_at_end {
public:
    explicit stop_at_end(std::stop_source& source) : source_(source) {}
    stop_at_end(const stop_at_end&) = delete;
    stop_at_end& operator=(const stop_at_end&) = delete;
    ~stop_at_end() { source_.request_stop(); }

private:
    std::stop_source& source_;
};

/// Expects that a pending stop interrupts both forms of the call at once: the stop of the current
/// task, and the stop of the token.
template <class Plain, class WithToken>
void expect_interrupted_before(Plain plain, WithToken with_token) {
    EXPECT_THROW(with_token(stopped_token()), spool::interrupted);
    spool::task_scope scope;
    scope.interrupt().request_stop();
    EXPECT_THROW(plain(), spool::interrupted);
}

/// Expects that a stop during the wait interrupts both forms of the call.
template <class Plain, class WithToken>
void expect_interrupted_during(Plain plain, WithToken with_token) {
    std::stop_source source;
    in_background of_task{plain};
    in_background of_token{[&] { with_token(source.get_token()); }};
    const stop_at_end at_end{source};
    ASSERT_TRUE(of_task.falls_asleep() && of_token.falls_asleep());
    EXPECT_FALSE(of_task.has_ended() || of_token.has_ended());
    of_task.interrupt();
    source.request_stop();
    ASSERT_TRUE(of_task.ends() && of_token.ends());
    EXPECT_TRUE(of_task.was_interrupted());
    EXPECT_TRUE(of_token.was_interrupted());
}

template <class Plain, class WithToken>
void expect_interruptible(Plain plain, WithToken with_token) {
    expect_interrupted_before(plain, with_token);
    expect_interrupted_during(plain, with_token);
}

}  // namespace test
