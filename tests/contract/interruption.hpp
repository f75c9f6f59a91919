// Checks that a stop request ends a wait. Each call under test has two forms: one that watches the stop of the current
// task, and one that watches a token given by the caller.
#pragma once

#include <gtest/gtest.h>

#include <stop_token>

#include "spool/base/error.hpp"
#include "spool/base/task_scope.hpp"
#include "unit/sync/in_background.hpp"

namespace test {

inline std::stop_token stopped_token() {
    std::stop_source source;
    source.request_stop();
    return source.get_token();
}

/// Requests stop when a check fails or the test ends, so that no background call waits for ever.
class stop_at_end {
public:
    explicit stop_at_end(std::stop_source& source) : source_(source) {}
    stop_at_end(const stop_at_end&) = delete;
    stop_at_end& operator=(const stop_at_end&) = delete;
    ~stop_at_end() { source_.request_stop(); }

private:
    std::stop_source& source_;
};

/// A stop that is pending interrupts both forms at once.
template <class Plain, class WithToken>
void expect_interrupted_before(Plain plain, WithToken with_token) {
    EXPECT_THROW(with_token(stopped_token()), spool::interrupted);
    spool::task_scope scope;
    scope.interrupt().request_stop();
    EXPECT_THROW(plain(), spool::interrupted);
}

/// A stop that comes later wakes both forms.
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
