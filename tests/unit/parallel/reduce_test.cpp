// parallel_reduce, parallel_transform, the scans and parallel_invoke, beyond what every pool
// promises.
#include <cmath>
#include <list>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "parallel_helpers.hpp"
#include "support/tracked.hpp"

namespace {

class reduction : public testing::Test {
protected:
    spool::thread_pool_executor pool = spool::work_stealing_pool(3);
};

TEST_F(reduction, of_an_empty_range_is_the_initial_value) {
    const std::vector<int> none;
    EXPECT_EQ(spool::parallel_reduce(pool, none, 7), 7);
    EXPECT_EQ(spool::parallel_reduce(pool, none, 7, std::plus<>{}, std::identity{}, {.deterministic = true}),
              7);
    EXPECT_EQ(spool::parallel_reduce(pool, std::list<int>{}, 7), 7);
}

TEST_F(reduction, uses_the_initial_value_once) {
    for (const std::size_t n : {1U, 15U, 16U, 17U, 1000U, 100000U}) {
        const std::vector<long> v(n, 1);
        EXPECT_EQ(spool::parallel_reduce(pool, v, 100L), 100 + static_cast<long>(n));
        EXPECT_EQ(
            spool::parallel_reduce(pool, v, 100L, std::plus<>{}, std::identity{}, {.deterministic = true}),
            100 + static_cast<long>(n));
    }
}

TEST_F(reduction, applies_the_projection_to_every_element) {
    const std::vector<float> v(20000, 0.5F);
    EXPECT_EQ(spool::parallel_reduce(pool, v, 0.0, std::plus<>{}, [](float x) { return double{x} * 4; }),
              40000.0);
    struct item {
        int weight;
    };
    const std::vector<item> items(100, item{3});
    EXPECT_EQ(spool::parallel_reduce(pool, items, 0, std::plus<>{}, &item::weight), 300);
}

TEST_F(reduction, works_with_operations_other_than_addition) {
    const std::vector<int> v = test::random_ints(50000);
    const auto larger = [](int a, int b) { return std::max(a, b); };
    EXPECT_EQ(spool::parallel_reduce(pool, v, -1, larger), *std::max_element(v.begin(), v.end()));
}

TEST_F(reduction, of_a_list_keeps_the_order_too) {
    std::list<std::string> words{"a", "b", "c", "d"};
    EXPECT_EQ(spool::parallel_reduce(pool, words, std::string{"-"}), "-abcd");
}

// Composition of 2x2 matrices: associative, and anything but commutative. All threads take part.
TEST_F(reduction, does_not_need_a_commutative_operation) {
    struct matrix {
        std::uint64_t a, b, c, d;
        bool operator==(const matrix&) const = default;
    };
    const auto times = [](matrix x, matrix y) {
        test::work_a_little();
        return matrix{x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c,
                      x.c * y.b + x.d * y.d};
    };
    std::vector<matrix> v;
    for (std::uint64_t i = 0; i < 2000; ++i) {
        v.push_back({i, i % 3, i % 7, 1});
    }
    const matrix one{1, 0, 0, 1};
    const matrix expected = std::accumulate(v.begin(), v.end(), one, times);
    EXPECT_EQ(spool::parallel_reduce(pool, v, one, times), expected);
    EXPECT_EQ(
        spool::parallel_reduce(pool, v, one, times, std::identity{}, {.grain = 10, .deterministic = true}),
        expected);
}

TEST_F(reduction, that_is_deterministic_gives_the_same_bits_on_every_pool) {
    std::vector<double> v;
    for (int i = 0; i < 100000; ++i) {
        v.push_back(std::sin(i) * std::pow(10, i % 17));
    }
    spool::thread_pool_executor one = spool::fixed_thread_pool(1);
    const spool::reduce_options fixed{.deterministic = true};
    const double expected = spool::parallel_reduce(one, v, 0.0, std::plus<>{}, std::identity{}, fixed);
    for (int round = 0; round < 20; ++round) {
        EXPECT_EQ(spool::parallel_reduce(pool, v, 0.0, std::plus<>{}, std::identity{}, fixed), expected);
    }
}

TEST_F(reduction, destroys_every_partial_result_once_also_after_an_exception) {
    struct value {
        int n;
        test::tracked alive;
        value(int x, std::atomic<int>& count) : n(x), alive(count) {}
        value(const value&) = default;
        value& operator=(const value& other) {
            n = other.n;
            return *this;
        }
        ~value() = default;
    };
    std::atomic<int> alive{0};
    for (const bool deterministic : {false, true}) {
        const std::vector<int> v(500, 1);
        const auto plus = [&](const value& a, const value& b) {
            test::work_a_little();
            if (a.n + b.n == 200) {
                throw std::runtime_error("200");
            }
            return value{a.n + b.n, alive};
        };
        const auto project = [&](int x) { return value{x, alive}; };
        EXPECT_THROW((void)spool::parallel_reduce(pool, v, value{1, alive}, plus, project,
                                                  {.grain = 300, .deterministic = deterministic}),
                     std::runtime_error);
        EXPECT_EQ(alive, 0);
    }
}

TEST_F(reduction, transforms_in_place_and_into_another_range) {
    std::vector<int> v(10000);
    std::iota(v.begin(), v.end(), 0);
    std::vector<long> squares(v.size());
    EXPECT_EQ(spool::parallel_transform(pool, v, squares.begin(), [](int x) { return long{x} * x; }),
              squares.end());
    EXPECT_EQ(squares[9999], 9999L * 9999);
    spool::parallel_transform(pool, v, v.begin(), [](int x) { return x + 1; });
    EXPECT_EQ(std::accumulate(v.begin(), v.end(), 0L), 10000L * 10001 / 2);
}

TEST_F(reduction, transforms_two_ranges_up_to_the_end_of_the_shorter) {
    const std::vector<int> a{1, 2, 3};
    const std::vector<int> b{10, 20, 30, 40};
    std::vector<int> out(3);
    EXPECT_EQ(spool::parallel_transform(pool, a, b, out.begin(), std::plus<>{}), out.end());
    EXPECT_EQ(out, (std::vector<int>{11, 22, 33}));
}

TEST_F(reduction, scans_need_no_commutative_operation_and_work_in_place) {
    for (const std::size_t chunks : {0U, 1U, 2U, 7U}) {
        std::vector<std::string> v(60);
        for (std::size_t i = 0; i < v.size(); ++i) {
            v[i] = std::string(1, static_cast<char>('a' + i % 26));
        }
        std::vector<std::string> expected(v.size());
        std::inclusive_scan(v.begin(), v.end(), expected.begin());
        std::vector<std::string> in_place = v;
        spool::parallel_inclusive_scan(pool, in_place, in_place.begin(), std::plus<>{}, {.chunks = chunks});
        EXPECT_EQ(in_place, expected);
        std::exclusive_scan(v.begin(), v.end(), expected.begin(), std::string{"#"});
        spool::parallel_exclusive_scan(pool, v, v.begin(), std::string{"#"}, std::plus<>{},
                                       {.chunks = chunks});
        EXPECT_EQ(v, expected);
    }
}

TEST_F(reduction, scans_of_empty_ranges_write_nothing) {
    const std::vector<int> none;
    std::vector<int> out{9};
    EXPECT_EQ(spool::parallel_inclusive_scan(pool, none, out.begin()), out.begin());
    EXPECT_EQ(spool::parallel_exclusive_scan(pool, none, out.begin(), 3), out.begin());
    EXPECT_EQ(spool::parallel_exclusive_scan(pool, none, out.begin(), 3, std::plus<>{}, {.chunks = 4}),
              out.begin());
    EXPECT_EQ(out.front(), 9);
}

TEST_F(reduction, invoked_functions_that_have_not_begun_after_an_exception_never_do) {
    spool::thread_pool_executor none(test::loop_pool(1));
    none.shutdown();  // the caller runs all, one after the other
    int ran = 0;
    EXPECT_THROW(spool::parallel_invoke(
                     none, [&] { ++ran; }, [] { throw std::runtime_error("second"); }, [&] { ++ran; }),
                 std::runtime_error);
    EXPECT_LT(ran, 2);
}

}  // namespace
