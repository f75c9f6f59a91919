// Members of a user's callable that only resemble those that Spool knows.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "spool/base/task.hpp"

namespace {

using spool::due_time;
using spool::task;
using namespace std::chrono_literals;

struct account {};

struct transfer {
    account* from;
    [[nodiscard]] account* owner() const { return from; }
    void operator()() const {}
};

TEST(task_lookalikes, owner_of_a_users_callable_is_its_own_affair) {
    account mine;
    const task work = transfer{&mine};
    EXPECT_EQ(work.owner(), nullptr);
}

// Points at itself, so a bytewise move would break it.
struct moves_itself {
    [[maybe_unused]] static constexpr bool moves_as_bytes = true;
    explicit moves_itself(bool& answer) : right(answer) {}
    moves_itself(moves_itself&& other) noexcept : right(other.right) {}
    moves_itself& operator=(moves_itself&&) = delete;
    ~moves_itself() = default;
    void operator()() const { right = self == this; }

    bool& right;
    const moves_itself* self = this;
};

TEST(task_lookalikes, move_constructor_runs_despite_a_constant_with_a_reserved_name) {
    bool right = false;
    task first = moves_itself{right};
    EXPECT_FALSE(first.moves_as_bytes());
    task second{std::move(first)};
    second();
    EXPECT_TRUE(right);
}

struct document {
    using brings_task_scope = void;
    [[nodiscard]] spool::task_id id() const { return 7; }
    [[nodiscard]] void* shared_state() const { return const_cast<document*>(this); }
    void operator()() const {}
};

TEST(task_lookalikes, callable_with_a_shared_state_is_no_body_of_a_future) {
    const task work = document{};
    EXPECT_FALSE(work.adopts_scope());
    EXPECT_EQ(work.shared_state(), nullptr);
    EXPECT_TRUE(work.is_plain());
    EXPECT_NE(work.id(), 7U);
}

// Converts to every type, as some variant types do.
struct anything {
    template <class T>
    operator T() const {
        throw std::bad_function_call{};
    }
};

template <class Priority, class Due>
struct unrelated {
    Priority first{};
    Due second{};
    [[nodiscard]] Priority priority() const { return first; }
    [[nodiscard]] Due due() const { return second; }
    void operator()() const {}
};

template <class F>
void expect_no_order(F f) {
    const task work = f;
    EXPECT_EQ(work.priority(), 0);
    EXPECT_EQ(work.due(), due_time::min());
    EXPECT_TRUE(work.is_plain());
    const task wrapped = spool::with_priority(3, f);
    EXPECT_EQ(wrapped.priority(), 3);
    EXPECT_EQ(wrapped.due(), due_time::min());
}

TEST(task_lookalikes, priority_and_due_time_of_another_type_are_ignored) {
    expect_no_order(unrelated<double, std::string>{.first = 2.5, .second = "Monday"});
    expect_no_order(unrelated<bool, bool>{.first = true, .second = true});
    expect_no_order(unrelated<long, std::chrono::milliseconds>{.first = 5, .second = 5ms});
    expect_no_order(unrelated<anything, anything>{});
    expect_no_order(
        unrelated<std::string, std::chrono::system_clock::time_point>{.first = "high", .second = {}});
}

TEST(task_lookalikes, priority_by_reference_and_a_coarser_due_time_are_answered) {
    using coarse = std::chrono::time_point<std::chrono::steady_clock, std::chrono::seconds>;
    const task coarsely = unrelated<int, coarse>{.first = 4, .second = coarse{5s}};
    EXPECT_EQ(coarsely.priority(), 4);
    EXPECT_EQ(coarsely.due(), due_time{5s});
    const int five = 5;
    const due_time when{6s};
    struct by_reference {
        const int& importance;
        const due_time& when;
        [[nodiscard]] const int& priority() const { return importance; }
        [[nodiscard]] const due_time& due() const { return when; }
        void operator()() const {}
    };
    const task referring = by_reference{five, when};
    EXPECT_EQ(referring.priority(), 5);
    EXPECT_EQ(referring.due(), when);
}

// Compares with other tickets, and can be made from a null pointer.
struct ticket {
    ticket(const account* of) : whose(of) {}
    bool operator==(const ticket&) const = default;
    void operator()() const {}
    const account* whose;
};

TEST(task_lookalikes, callable_that_equals_one_made_from_null_is_not_empty) {
    EXPECT_FALSE(task{ticket{nullptr}}.empty());
}

// Its own `==` says that it is empty.
struct nothing_yet {
    bool operator==(std::nullptr_t) const { return true; }
    void operator()() const {}
};

TEST(task_lookalikes, callable_that_says_it_equals_nullptr_is_empty) {
    EXPECT_TRUE(task{nothing_yet{}}.empty());
}

}  // namespace
