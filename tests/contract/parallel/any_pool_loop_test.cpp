// What every kind of pool promises to a parallel loop, called outside of the pool and by its tasks.
#include <numeric>

#include <gtest/gtest.h>

#include "unit/parallel/parallel_helpers.hpp"

namespace {

struct kind {
    std::string name;
    std::function<std::unique_ptr<spool::thread_pool_executor>()> make;
    bool on_worker = false;
    friend void PrintTo(const kind& k, std::ostream* out) { *out << k.name; }
};

std::unique_ptr<spool::thread_pool_executor> pool_of(spool::pool_options options) {
    return std::make_unique<spool::thread_pool_executor>(std::move(options));
}

std::vector<kind> kinds() {
    const std::vector<kind> pools{
        {"stealing", [] { return pool_of(test::loop_pool(3, test::stealing_queue())); }},
        {"one_stealing", [] { return pool_of(test::loop_pool(1, test::stealing_queue())); }},
        {"many_stealing", [] { return pool_of(test::loop_pool(12, test::stealing_queue())); }},
        {"fixed", [] { return std::make_unique<spool::fixed_thread_pool_executor>(3); }},
        {"one_fixed", [] { return std::make_unique<spool::fixed_thread_pool_executor>(1); }},
        {"cached", [] { return std::make_unique<spool::cached_thread_pool_executor>(); }},
        {"bounded",
         [] {
             return pool_of(
                 test::loop_pool(2, std::make_unique<spool::array_blocking_queue<spool::task>>(1)));
         }},
        {"no_queue",
         [] {
             return pool_of(test::loop_pool(2, std::make_unique<spool::synchronous_queue<spool::task>>()));
         }},
        {"scheduled",
         [] {
             return std::make_unique<spool::scheduled_thread_pool_executor>(
                 spool::scheduled_pool_options{.core_size = 2});
         }},
        {"hooked",
         [] {
             auto options = test::loop_pool(2, test::stealing_queue());
             options.hooks = std::make_shared<spool::pool_hooks>();
             return pool_of(std::move(options));
         }},
        {"timed",
         [] {
             auto options = test::loop_pool(2);
             options.task_times = true;
             return pool_of(std::move(options));
         }},
    };
    std::vector<kind> all;
    for (const kind& one : pools) {
        all.push_back({one.name + "_outside", one.make, false});
        all.push_back({one.name + "_inside", one.make, true});
    }
    return all;
}

class loop_on : public testing::TestWithParam<kind> {
protected:
    /// Calls f(), on a worker of the pool or here.
    template <class F>
    void call(F f) {
        if (GetParam().on_worker) {
            pool->submit(f).get_for(test::long_delay());
        } else {
            f();
        }
    }
    std::unique_ptr<spool::thread_pool_executor> pool = GetParam().make();
};
INSTANTIATE_TEST_SUITE_P(pools, loop_on, testing::ValuesIn(kinds()),
                         [](const auto& instance) { return instance.param.name; });

TEST_P(loop_on, every_index_is_visited_once) {
    for (const std::size_t n : {0U, 1U, 2U, 3U, 100U, 1000U, 20000U}) {
        std::vector<std::atomic<int>> visits(n);
        call([&] { spool::parallel_for(*pool, 0, n, [&](std::size_t i) { ++visits[i]; }); });
        EXPECT_TRUE(std::all_of(visits.begin(), visits.end(), [](const auto& v) { return v == 1; })) << n;
    }
}

TEST_P(loop_on, every_index_of_slow_elements_is_visited_once) {
    std::vector<std::atomic<int>> visits(300);
    call([&] {
        spool::parallel_for(*pool, 0, visits.size(), [&](std::size_t i) {
            test::work_a_little();
            ++visits[i];
        });
    });
    EXPECT_TRUE(std::all_of(visits.begin(), visits.end(), [](const auto& v) { return v == 1; }));
}

TEST_P(loop_on, loops_inside_loops_visit_every_pair_once) {
    std::vector<std::atomic<int>> visits(std::size_t{20} * 30);
    call([&] {
        spool::parallel_for(*pool, 0, 20, [&](int i) {
            spool::parallel_for(*pool, 0, 30, [&](int j) {
                test::work_a_little();
                ++visits[static_cast<std::size_t>(i * 30 + j)];
            });
        });
    });
    EXPECT_TRUE(std::all_of(visits.begin(), visits.end(), [](const auto& v) { return v == 1; }));
}

TEST_P(loop_on, chunks_are_called_once_each_and_make_up_the_range) {
    std::vector<std::atomic<int>> visits(1000);
    std::atomic<int> calls{0};
    const auto body = [&](std::size_t b, std::size_t e) {
        ++calls;
        for (std::size_t i = b; i < e; ++i) {
            ++visits[i];
        }
    };
    call([&] { spool::parallel_for_blocks(*pool, 0, visits.size(), body, {.chunks = 7}); });
    EXPECT_EQ(calls, 7);
    EXPECT_TRUE(std::all_of(visits.begin(), visits.end(), [](const auto& v) { return v == 1; }));
}

TEST_P(loop_on, an_exception_is_rethrown_when_all_calls_have_ended) {
    std::atomic<int> under_way{0};
    const auto body = [&](int i) {
        ++under_way;
        test::work_a_little();
        --under_way;
        if (i == 57) {
            throw std::runtime_error("57");
        }
    };
    call([&] {
        EXPECT_THROW(spool::parallel_for(*pool, 0, 200, body), std::runtime_error);
        EXPECT_EQ(under_way, 0);
    });
}

TEST_P(loop_on, a_reduction_keeps_the_order_of_its_operands) {
    std::vector<std::string> words(500);
    for (std::size_t i = 0; i < words.size(); ++i) {
        words[i] = std::to_string(i) + ",";
    }
    const std::string expected = std::accumulate(words.begin(), words.end(), std::string{">"});
    const auto slow_plus = [](std::string a, const std::string& b) {
        test::work_a_little();
        return std::move(a) + b;
    };
    call([&] { EXPECT_EQ(spool::parallel_reduce(*pool, words, std::string{">"}, slow_plus), expected); });
}

TEST_P(loop_on, sorts_leave_the_range_sorted) {
    std::vector<int> v = test::random_ints(200000);
    std::vector<int> sorted = v;
    std::sort(sorted.begin(), sorted.end());
    std::vector<int> stable = v;
    call([&] {
        spool::parallel_sort(*pool, v);
        spool::parallel_stable_sort(*pool, stable);
    });
    EXPECT_EQ(v, sorted);
    EXPECT_EQ(stable, sorted);
}

TEST_P(loop_on, scans_give_the_running_totals) {
    const std::vector<int> v = test::random_ints(30000, 100);
    std::vector<int> expected(v.size());
    std::vector<int> out(v.size());
    call([&] {
        std::inclusive_scan(v.begin(), v.end(), expected.begin());
        EXPECT_EQ(spool::parallel_inclusive_scan(*pool, v, out.begin()), out.end());
        EXPECT_EQ(out, expected);
        std::exclusive_scan(v.begin(), v.end(), expected.begin(), 5);
        EXPECT_EQ(spool::parallel_exclusive_scan(*pool, v, out.begin(), 5, std::plus<>{}, {.chunks = 9}),
                  out.end());
        EXPECT_EQ(out, expected);
    });
}

TEST_P(loop_on, invoked_functions_run_once_each) {
    std::atomic<int> a{0};
    std::atomic<int> b{0};
    std::atomic<int> c{0};
    call([&] {
        spool::parallel_invoke(
            *pool, [&] { ++a; }, [&] { ++b; }, [&] { ++c; });
    });
    EXPECT_EQ(a * 100 + b * 10 + c, 111);
}

TEST_P(loop_on, a_shut_down_pool_leaves_the_loop_to_the_caller) {
    if (GetParam().on_worker) {
        GTEST_SKIP() << "a task of the pool is over by then";
    }
    pool->shutdown();
    std::vector<std::thread::id> by(300);
    spool::parallel_for(*pool, 0, by.size(), [&](std::size_t i) {
        test::work_a_little();
        by[i] = std::this_thread::get_id();
    });
    EXPECT_EQ(std::count(by.begin(), by.end(), std::this_thread::get_id()), 300);
}

TEST_P(loop_on, what_the_loop_did_is_visible_afterwards) {
    std::vector<long> squares(3000);
    call([&] {
        spool::parallel_for(*pool, 0, squares.size(), [&](std::size_t i) { squares[i] = long(i) * long(i); });
        EXPECT_EQ(spool::parallel_reduce(*pool, squares, 0L), 2999L * 3000 * 5999 / 6);
    });
}

}  // namespace
