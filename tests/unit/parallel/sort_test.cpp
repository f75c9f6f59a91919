// The sorts: results, stability, comparators and projections, input with a pattern.
#include <deque>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "parallel_helpers.hpp"

namespace {

class sorting : public testing::TestWithParam<std::size_t> {
protected:
    spool::thread_pool_executor pool = spool::work_stealing_pool(3);
};
INSTANTIATE_TEST_SUITE_P(sizes, sorting, testing::Values(0, 1, 2, 3, 24, 25, 100, 1000, 5000, 120001));

std::vector<std::vector<int>> patterns(std::size_t n) {
    std::vector<std::vector<int>> all{test::random_ints(n), test::random_ints(n, 2),
                                      test::random_ints(n, 100)};
    std::vector<int> up(n);
    for (std::size_t i = 0; i < n; ++i) {
        up[i] = static_cast<int>(i);
    }
    all.push_back(up);
    all.emplace_back(up.rbegin(), up.rend());
    all.emplace_back(n, 5);
    std::vector<int> nearly = up;
    if (n > 2) {
        std::swap(nearly[n / 2], nearly[n - 1]);
    }
    all.push_back(nearly);
    std::vector<int> organ = up;
    for (std::size_t i = n / 2; i < n; ++i) {
        organ[i] = static_cast<int>(n - i);
    }
    all.push_back(organ);
    std::vector<int> saw = up;
    for (int& x : saw) {
        x %= 97;
    }
    all.push_back(saw);
    std::vector<int> steps_down = up;  // descending, but not strictly
    for (int& x : steps_down) {
        x = -x / 3;
    }
    all.push_back(steps_down);
    return all;
}

TEST_P(sorting, leaves_every_pattern_sorted) {
    for (const std::vector<int>& input : patterns(GetParam())) {
        std::vector<int> expected = input;
        std::sort(expected.begin(), expected.end());
        std::vector<int> v = input;
        spool::parallel_sort(pool, v);
        EXPECT_EQ(v, expected);
        v = input;
        spool::parallel_stable_sort(pool, v);
        EXPECT_EQ(v, expected);
    }
}

TEST_P(sorting, keeps_the_order_of_equal_elements_if_it_is_stable) {
    struct item {
        int key;
        int number;
        bool operator==(const item&) const = default;
    };
    for (const std::vector<int>& input : patterns(GetParam())) {
        std::vector<item> v;
        for (const int x : input) {
            v.push_back({x % 50, static_cast<int>(v.size())});
        }
        std::vector<item> expected = v;
        std::stable_sort(expected.begin(), expected.end(),
                         [](const item& a, const item& b) { return a.key > b.key; });
        spool::parallel_stable_sort(pool, v, std::greater<>{}, &item::key);
        EXPECT_TRUE(v == expected);
    }
}

TEST_P(sorting, sorts_strings_and_objects_that_only_move) {
    std::vector<std::string> strings;
    std::vector<std::unique_ptr<int>> owners;
    for (const int x : test::random_ints(GetParam())) {
        strings.push_back("a common beginning " + std::to_string(x));
        owners.push_back(std::make_unique<int>(x));
    }
    std::vector<std::string> expected = strings;
    std::sort(expected.begin(), expected.end());
    std::vector<std::string> stable = strings;
    spool::parallel_sort(pool, strings);
    spool::parallel_stable_sort(pool, stable);
    EXPECT_EQ(strings, expected);
    EXPECT_EQ(stable, expected);
    const auto value = [](const std::unique_ptr<int>& p) { return *p; };
    spool::parallel_sort(pool, owners, {}, value);
    EXPECT_TRUE(std::is_sorted(owners.begin(), owners.end(), [](auto& a, auto& b) { return *a < *b; }));
    spool::parallel_stable_sort(pool, owners, std::greater<>{}, value);
    EXPECT_TRUE(std::is_sorted(owners.begin(), owners.end(), [](auto& a, auto& b) { return *a > *b; }));
}

TEST_P(sorting, works_on_a_deque_and_on_bools) {
    const std::vector<int> input = test::random_ints(GetParam());
    std::deque<int> d(input.begin(), input.end());
    spool::parallel_sort(pool, d);
    EXPECT_TRUE(std::is_sorted(d.begin(), d.end()));
    spool::parallel_stable_sort(pool, d, std::greater<>{});
    EXPECT_TRUE(std::is_sorted(d.begin(), d.end(), std::greater<>{}));
}

// Moves may throw: such elements are sorted by reference. Here none does.
struct may_throw {
    int key = 0;
    int number = 0;
    explicit may_throw(int k, int n) : key(k), number(n) {}
    may_throw(const may_throw&) = default;
    may_throw& operator=(const may_throw&) = default;
    // NOLINTNEXTLINE(performance-noexcept-move-constructor): that is the point
    may_throw(may_throw&& other) noexcept(false) : key(other.key), number(other.number) {}
    may_throw& operator=(may_throw&& other) noexcept(false) {
        key = other.key;
        number = other.number;
        return *this;
    }
    ~may_throw() = default;
};

TEST_P(sorting, sorts_elements_whose_moves_could_throw) {
    std::vector<may_throw> v;
    for (const int x : test::random_ints(GetParam(), 100)) {
        v.emplace_back(x, static_cast<int>(v.size()));
    }
    std::vector<may_throw> stable = v;
    spool::parallel_sort(pool, v, {}, &may_throw::key);
    EXPECT_TRUE(std::ranges::is_sorted(v, {}, &may_throw::key));
    spool::parallel_stable_sort(pool, stable, {}, &may_throw::key);
    EXPECT_TRUE(std::ranges::is_sorted(stable, {}, [](const may_throw& x) {
        return std::pair{x.key, x.number};
    }));
}

}  // namespace
