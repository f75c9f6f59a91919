// Sorts beside users' code that misbehaves: comparators that throw, stop or make no sense, moves
// that throw.
#include <numeric>
#include <stdexcept>

#include <gtest/gtest.h>

#include "parallel_helpers.hpp"
#include "support/failing_memory.hpp"

namespace {

class hostile_sort : public testing::TestWithParam<bool> {
protected:
    template <class Range, class Comp>
    void sort(Range& range, Comp comp, const std::stop_token& stop = {}) {
        if (GetParam()) {
            spool::parallel_stable_sort(pool, range, comp, {}, {.stop = stop});
        } else {
            spool::parallel_sort(pool, range, comp, {}, {.stop = stop});
        }
    }
    spool::thread_pool_executor pool = spool::work_stealing_pool(3);
};
INSTANTIATE_TEST_SUITE_P(kinds, hostile_sort, testing::Bool(),
                         [](const auto& instance) { return instance.param ? "stable" : "plain"; });

std::vector<std::string> numbered(std::size_t n) {
    std::vector<std::string> v;
    for (const int x : test::random_ints(n)) {
        v.push_back("a string on the heap, number " + std::to_string(x));
    }
    return v;
}
template <class T>
std::vector<T> sorted(std::vector<T> v) {
    std::sort(v.begin(), v.end());
    return v;
}

TEST_P(hostile_sort, leaves_a_permutation_after_a_comparison_throws_at_any_time) {
    const std::vector<std::string> input = numbered(20000);
    const std::vector<std::string> expected = sorted(input);
    for (long fuse = 1; fuse < 2000000; fuse = fuse * 3 / 2 + 1) {
        std::vector<std::string> v = input;
        std::atomic<long> left{fuse};
        const auto comp = [&](const std::string& a, const std::string& b) {
            if (--left == 0) {
                throw std::runtime_error("comparison");
            }
            return a < b;
        };
        bool threw = false;
        try {
            sort(v, comp);
        } catch (const std::runtime_error&) {
            threw = true;
        }
        ASSERT_EQ(threw, left <= 0) << fuse;
        ASSERT_EQ(sorted(v), expected) << fuse;
    }
}

TEST_P(hostile_sort, leaves_a_permutation_after_a_comparison_throws_in_short_ranges) {
    for (const std::size_t n : {2U, 5U, 24U, 60U, 500U}) {
        const std::vector<std::string> input = numbered(n);
        const std::vector<std::string> expected = sorted(input);
        for (int fuse = 1;; ++fuse) {
            std::vector<std::string> v = input;
            int left = fuse;
            const auto comp = [&](const std::string& a, const std::string& b) {
                if (--left == 0) {
                    throw std::runtime_error("comparison");
                }
                return a < b;
            };
            try {
                sort(v, comp);
                ASSERT_EQ(v, expected);
                break;
            } catch (const std::runtime_error&) {
                ASSERT_EQ(sorted(v), expected) << n << ", " << fuse;
            }
            fuse += fuse / 20;
        }
    }
}

TEST_P(hostile_sort, leaves_a_permutation_after_a_stop) {
    const std::vector<std::string> input = numbered(100000);
    const std::vector<std::string> expected = sorted(input);
    std::stop_source stop;
    std::atomic<long> left{500000};
    std::vector<std::string> v = input;
    const auto comp = [&](const std::string& a, const std::string& b) {
        if (--left == 0) {
            stop.request_stop();
        }
        return a < b;
    };
    EXPECT_THROW(sort(v, comp, stop.get_token()), spool::interrupted);
    EXPECT_EQ(sorted(v), expected);
}

TEST_P(hostile_sort, ends_with_a_permutation_if_the_comparison_is_no_order) {
    std::atomic<unsigned> random{1};
    const std::vector<std::function<bool(int, int)>> comparisons{
        [](int, int) { return true; },
        [](int, int) { return false; },
        [](int a, int b) { return a <= b; },
        [&](int, int) { return (random.fetch_add(0x9e3779b9U) >> 13U & 1U) != 0; },
        [](int a, int b) { return a % 3 == (b + 1) % 3; },
    };
    for (const std::size_t n : {10U, 100U, 3000U, 50000U}) {
        const std::vector<int> input = test::random_ints(n);
        for (const auto& comp : comparisons) {
            std::vector<int> v = input;
            sort(v, comp);
            EXPECT_EQ(sorted(v), sorted(input));
        }
    }
}

// Counts its objects. Every move decrements a fuse and throws when the fuse burns down.
struct fused {
    static inline std::atomic<long> alive{0};
    static inline std::atomic<long> fuse{0};
    int key;
    const fused* self = this;  // a byte-wise copy would show
    explicit fused(int k) : key(k) { ++alive; }
    fused(const fused& other) : key(other.key) { ++alive; }
    fused& operator=(const fused&) = default;
    fused(fused&& other) noexcept(false) : key(other.key) {
        burn();
        ++alive;
    }
    fused& operator=(fused&& other) noexcept(false) {
        burn();
        key = other.key;
        return *this;
    }
    ~fused() {
        EXPECT_EQ(self, this);
        --alive;
    }
    static void burn() {
        if (--fuse == 0) {
            throw std::runtime_error("move");
        }
    }
};

TEST_P(hostile_sort, destroys_every_object_once_after_a_move_throws) {
    for (long fuse = 1; fuse < 20000; fuse = fuse * 2 + 1) {
        {
            std::vector<fused> v;
            v.reserve(5000);
            for (const int x : test::random_ints(5000)) {
                v.emplace_back(x);
            }
            fused::fuse = fuse;
            const auto comp = [](const fused& a, const fused& b) { return a.key < b.key; };
            EXPECT_EQ(fused::alive, 5000);
            bool threw = false;
            try {
                sort(v, comp);
            } catch (const std::runtime_error&) {
                threw = true;
            }
            EXPECT_EQ(threw, fused::fuse <= 0);
            EXPECT_EQ(fused::alive, 5000);
            fused::fuse = 0;
        }
        EXPECT_EQ(fused::alive, 0);
    }
}

}  // namespace
