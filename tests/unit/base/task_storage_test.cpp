// A task owns its callable: it is destroyed once, wherever it is stored and however often it is
// moved.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "spool/base/task.hpp"
#include "unit/base/callables.hpp"

namespace {

using spool::task;

static_assert(sizeof(task) == 56);
static_assert(std::is_nothrow_move_constructible_v<task> && std::is_nothrow_move_assignable_v<task>);
static_assert(!std::is_copy_constructible_v<task> && !std::is_copy_assignable_v<task>);
static_assert(std::is_nothrow_default_constructible_v<task>);

static_assert(spool::detail::fits_inline<test::inline_callable>);
static_assert(!spool::detail::fits_inline<test::large_callable>);
static_assert(!spool::detail::fits_inline<test::over_aligned_callable>);
static_assert(!spool::detail::fits_inline<test::throwing_move_callable>);

template <class Callable>
class task_storage : public testing::Test {
protected:
    std::atomic<int> alive_{0};
    int calls_ = 0;

    task make() { return Callable{alive_, calls_}; }
};

using storage_kinds = testing::Types<test::inline_callable, test::large_callable, test::over_aligned_callable,
                                     test::throwing_move_callable>;
TYPED_TEST_SUITE(task_storage, storage_kinds);

TYPED_TEST(task_storage, callable_is_destroyed_with_its_task) {
    {
        task work = this->make();
        EXPECT_EQ(this->alive_, 1);
        work();
        EXPECT_EQ(this->alive_, 1);
    }
    EXPECT_EQ(this->alive_, 0);
    EXPECT_EQ(this->calls_, 1);
}

TYPED_TEST(task_storage, moving_keeps_exactly_one_callable) {
    {
        task first = this->make();
        task second{std::move(first)};
        EXPECT_EQ(this->alive_, 1);
        task third;
        third = std::move(second);
        EXPECT_EQ(this->alive_, 1);
        third();
    }
    EXPECT_EQ(this->alive_, 0);
    EXPECT_EQ(this->calls_, 1);
}

TYPED_TEST(task_storage, moved_from_task_is_empty) {
    task from = this->make();
    const task to{std::move(from)};
    EXPECT_TRUE(from.empty());
    EXPECT_FALSE(static_cast<bool>(from));
    EXPECT_TRUE(from == nullptr);
    EXPECT_EQ(from.id(), 0U);
    EXPECT_EQ(from.template target<TypeParam>(), nullptr);
    EXPECT_FALSE(to.empty());
}

TYPED_TEST(task_storage, assignment_destroys_the_old_callable) {
    std::atomic<int> alive_of_other{0};
    task work = this->make();
    work = TypeParam{alive_of_other, this->calls_};
    EXPECT_EQ(this->alive_, 0);
    EXPECT_EQ(alive_of_other, 1);
}

TYPED_TEST(task_storage, self_move_assignment_changes_nothing) {
    task work = this->make();
    const spool::task_id id = work.id();
    task& same = work;
    work = std::move(same);
    EXPECT_EQ(this->alive_, 1);
    EXPECT_EQ(work.id(), id);
    work();
    EXPECT_EQ(this->calls_, 1);
}

TYPED_TEST(task_storage, assigning_nullptr_empties_the_task) {
    task work = this->make();
    work = nullptr;
    EXPECT_TRUE(work.empty());
    EXPECT_EQ(work.id(), 0U);
    EXPECT_EQ(this->alive_, 0);
}

TYPED_TEST(task_storage, assigning_an_empty_task_destroys_the_callable) {
    task work = this->make();
    work = task{};
    EXPECT_TRUE(work.empty());
    EXPECT_EQ(this->alive_, 0);
}

TYPED_TEST(task_storage, swapping_exchanges_callables_and_ids) {
    task one = this->make();
    task other = [] {};
    const auto id_of_one = one.id();
    const auto id_of_other = other.id();
    std::swap(one, other);
    EXPECT_EQ(one.id(), id_of_other);
    EXPECT_EQ(other.id(), id_of_one);
    other();
    EXPECT_EQ(this->calls_, 1);
    EXPECT_EQ(this->alive_, 1);
}

TYPED_TEST(task_storage, growing_vector_keeps_every_callable) {
    constexpr int count = 100;
    {
        std::vector<task> tasks;
        for (int i = 0; i < count; ++i) {
            tasks.push_back(this->make());
        }
        EXPECT_EQ(this->alive_, count);
        for (task& work : tasks) {
            work();
        }
    }
    EXPECT_EQ(this->alive_, 0);
    EXPECT_EQ(this->calls_, count);
}

TYPED_TEST(task_storage, lvalue_callable_is_copied) {
    const TypeParam original{this->alive_, this->calls_};
    task work{original};
    EXPECT_EQ(this->alive_, 2);
    work();
    EXPECT_EQ(this->calls_, 1);
}

// A trivial callable needs no destruction, so only its bytes matter.
TEST(task_trivial_storage, all_forty_bytes_survive_moves) {
    std::array<int, 8> numbers{1, 2, 3, 4, 5, 6, 7, 8};
    int sum = 0;
    auto callable = [numbers, &sum] {
        for (const int n : numbers) {
            sum += n;
        }
    };
    static_assert(sizeof(callable) == 40 && std::is_trivially_copyable_v<decltype(callable)>);
    static_assert(spool::detail::fits_inline<decltype(callable)>);

    task first{callable};
    task second{std::move(first)};
    task third;
    third = std::move(second);
    third();
    EXPECT_EQ(sum, 36);
}

// Its destructor looks at the task that it is removed from.
struct looks_back {
    looks_back(const task& from, bool& answer) : owner(&from), was_replaced(&answer) {}
    looks_back(looks_back&& other) noexcept
        : owner(std::exchange(other.owner, nullptr)), was_replaced(other.was_replaced) {}
    ~looks_back() {
        if (owner != nullptr) {
            *was_replaced = owner->target<looks_back>() == nullptr && owner->priority() == expected_priority;
        }
    }
    void operator()() const {}

    static constexpr int expected_priority = 7;
    const task* owner;
    bool* was_replaced;
};

TEST(task_assignment, old_callable_is_destroyed_after_the_new_one_is_in_place) {
    bool was_replaced = false;
    task work;
    work = looks_back{work, was_replaced};
    ASSERT_NE(work.target<looks_back>(), nullptr);
    work = spool::with_priority(looks_back::expected_priority, [] {});
    EXPECT_TRUE(was_replaced);
}

// A chain: the assigned task lies inside the callable that it replaces.
struct link {
    void operator()() const { ++*runs; }
    task next;
    int* runs;
};

TEST(task_assignment, task_may_be_replaced_by_one_that_it_owns) {
    int runs = 0;
    task work = link{.next = link{.next = nullptr, .runs = &runs}, .runs = &runs};
    int links = 0;
    while (!work.empty()) {
        work();
        ++links;
        work = std::move(work.target<link>()->next);
    }
    EXPECT_EQ(links, 2);
    EXPECT_EQ(runs, 2);
}

}  // namespace
