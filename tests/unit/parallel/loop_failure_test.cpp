// What ends a loop early: exceptions of the body, and stops. It never ends early in silence.
#include <list>
#include <stdexcept>

#include <gtest/gtest.h>

#include "parallel_helpers.hpp"

namespace {

class loop_failure : public testing::Test {
protected:
    spool::thread_pool_executor pool = spool::work_stealing_pool(2);
};
using loop_stop = loop_failure;

TEST_F(loop_failure, no_block_begins_after_an_exception_was_seen) {
    // Two chunks at the same time; one throws while the other still runs. The rest never begins.
    test::gate both;
    test::gate thrown;
    std::atomic<int> begun{0};
    const auto body = [&](int i) {
        ++begun;
        if (i == 0) {
            both.wait();
            throw std::runtime_error("first");
        }
        both.open();
        while (begun < 2) {}
    };
    EXPECT_THROW(spool::parallel_for(pool, 0, 2, body, {.chunks = 2}), std::runtime_error);
    begun = 0;
    EXPECT_THROW(spool::parallel_for(pool, 0, 1000000,
                                     [&](int) {
                                         ++begun;
                                         throw std::runtime_error("each");
                                     }),
                 std::runtime_error);
    EXPECT_LE(begun, 2);  // one per thread
}

TEST_F(loop_failure, the_exception_of_another_thread_arrives_with_its_type_and_text) {
    const std::thread::id here = std::this_thread::get_id();
    test::gate other;
    try {
        spool::parallel_for(pool, 0, 2,
                            [&](int) {
                                if (std::this_thread::get_id() != here) {
                                    other.open();
                                    throw std::out_of_range("from a worker");
                                }
                                EXPECT_TRUE(other.opens());
                            },
                            {.chunks = 2});
        FAIL() << "nothing was thrown";
    } catch (const std::out_of_range& e) {
        EXPECT_STREQ(e.what(), "from a worker");
    }
}

TEST_F(loop_failure, the_first_exception_wins_and_the_others_are_destroyed) {
    struct counted : std::runtime_error {
        explicit counted(std::atomic<int>& n) : std::runtime_error("counted"), alive(&n) { ++*alive; }
        counted(const counted& other) noexcept : std::runtime_error(other), alive(other.alive) { ++*alive; }
        counted& operator=(const counted&) = delete;
        ~counted() override { --*alive; }
        std::atomic<int>* alive;
    };
    std::atomic<int> alive{0};
    for (int round = 0; round < 50; ++round) {
        EXPECT_THROW(spool::parallel_for(pool, 0, 8, [&](int) { throw counted(alive); }, {.chunks = 8}),
                     counted);
    }
    EXPECT_EQ(alive, 0);
}

TEST_F(loop_failure, an_exception_of_an_inner_loop_ends_the_outer_one) {
    const auto inner = [&](int i) {
        spool::parallel_for(pool, 0, 4, [i](int j) {
            if (i == 2 && j == 3) {
                throw std::domain_error("2, 3");
            }
        });
    };
    EXPECT_THROW(spool::parallel_for(pool, 0, 4, inner, {.chunks = 4}), std::domain_error);
}

TEST_F(loop_failure, iterators_that_throw_count_as_a_body_that_throws) {
    struct hostile {
        using value_type = int;
        using difference_type = std::ptrdiff_t;
        const int* at = nullptr;
        const int* bad = nullptr;
        const int& operator*() const {
            if (at == bad) {
                throw std::runtime_error("iterator");
            }
            return *at;
        }
        hostile& operator++() {
            ++at;
            return *this;
        }
        hostile operator++(int) { return {at++, bad}; }
        bool operator==(const hostile& other) const { return at == other.at; }
    };
    static_assert(std::forward_iterator<hostile>);
    const std::vector<int> v(10);
    const hostile first{v.data(), v.data() + 5};
    const hostile last{v.data() + 10, nullptr};
    EXPECT_THROW(spool::parallel_for(pool, first, last, [](int) {}), std::runtime_error);
}

TEST_F(loop_failure, the_pool_is_as_before_after_an_exception) {
    for (int round = 0; round < 100; ++round) {
        EXPECT_THROW(spool::parallel_for(pool, 0, 100,
                                         [&](int i) {
                                             test::work_a_little();
                                             if (i == 50) {
                                                 throw std::runtime_error("50");
                                             }
                                         }),
                     std::runtime_error);
    }
    EXPECT_EQ(pool.submit([] { return 7; }).get_for(test::long_delay()), 7);
}

TEST_F(loop_stop, a_token_that_was_stopped_before_ends_the_loop_at_once) {
    std::stop_source stop;
    stop.request_stop();
    std::atomic<int> calls{0};
    const auto body = [&](int) { ++calls; };
    EXPECT_THROW(spool::parallel_for(pool, 0, 100, body, {.stop = stop.get_token()}), spool::interrupted);
    EXPECT_THROW(spool::parallel_for(pool, 0, 100, body, {.chunks = 4, .stop = stop.get_token()}),
                 spool::interrupted);
    EXPECT_EQ(calls, 0);
    EXPECT_NO_THROW(spool::parallel_for(pool, 0, 0, body, {.stop = stop.get_token()}));
}

TEST_F(loop_stop, a_stop_inside_of_the_loop_ends_it_with_interrupted) {
    for (const std::size_t chunks : {0U, 100U}) {
        std::stop_source stop;
        std::atomic<int> calls{0};
        EXPECT_THROW(spool::parallel_for(pool, 0, 100000,
                                         [&](int) {
                                             test::work_a_little();
                                             if (++calls == 20) {
                                                 stop.request_stop();
                                             }
                                         },
                                         {.chunks = chunks, .stop = stop.get_token()}),
                     spool::interrupted);
        EXPECT_LT(calls, 100000);
    }
}

TEST_F(loop_stop, a_stop_after_the_last_element_has_run_changes_nothing) {
    std::stop_source stop;
    std::atomic<int> calls{0};
    const auto body = [&](int) {
        if (++calls == 10) {
            stop.request_stop();
        }
    };
    EXPECT_NO_THROW(spool::parallel_for(pool, 0, 10, body, {.grain = 10, .stop = stop.get_token()}));
    EXPECT_EQ(calls, 10);
}

TEST_F(loop_stop, cancelling_the_task_that_calls_the_loop_interrupts_it) {
    for (const std::size_t chunks : {0U, 1000000U}) {
        test::gate begun;
        test::gate ended;
        std::atomic<bool> was_interrupted{false};
        spool::thread_pool_executor own = spool::work_stealing_pool(2);  // ends before the gates
        auto f = own.submit([&] {
            try {
                spool::parallel_for(own, 0, 1000000,
                                    [&](int) {
                                        begun.open();
                                        test::work_a_little();
                                    },
                                    {.chunks = chunks});
            } catch (const spool::interrupted&) {
                was_interrupted = true;
            }
            ended.open();
        });
        ASSERT_TRUE(begun.opens());
        f.cancel();
        EXPECT_TRUE(ended.opens());
        EXPECT_TRUE(was_interrupted);
    }
}

TEST_F(loop_stop, every_algorithm_reports_a_stop) {
    std::stop_source stop;
    stop.request_stop();
    const spool::loop_options loops{.stop = stop.get_token()};
    const spool::stop_options other{.stop = stop.get_token()};
    std::vector<int> v = test::random_ints(1000);
    const std::vector<int> before = v;
    std::vector<int> out(v.size(), -1);
    const std::list<int> list(10);
    EXPECT_THROW(spool::parallel_for(
                     pool, v, [](int) {}, loops),
                 spool::interrupted);
    EXPECT_THROW(spool::parallel_for(
                     pool, list, [](int) {}, loops),
                 spool::interrupted);
    EXPECT_THROW(spool::parallel_for_blocks(
                     pool, 0, 9, [](int, int) {}, loops),
                 spool::interrupted);
    EXPECT_THROW(spool::parallel_invoke(
                     pool, other, [] {}, [] {}),
                 spool::interrupted);
    EXPECT_THROW(
        (void)spool::parallel_reduce(pool, v, 0, std::plus<>{}, std::identity{}, {.stop = stop.get_token()}),
        spool::interrupted);
    EXPECT_THROW((void)spool::parallel_reduce(pool, list, 0, std::plus<>{}, std::identity{},
                                              {.stop = stop.get_token()}),
                 spool::interrupted);
    EXPECT_THROW((void)spool::parallel_reduce(pool, v, 0, std::plus<>{}, std::identity{},
                                              {.deterministic = true, .stop = stop.get_token()}),
                 spool::interrupted);
    EXPECT_THROW(spool::parallel_transform(pool, v, out.begin(), std::negate<>{}, loops), spool::interrupted);
    EXPECT_THROW(spool::parallel_inclusive_scan(pool, v, out.begin(), std::plus<>{}, loops),
                 spool::interrupted);
    EXPECT_THROW(spool::parallel_exclusive_scan(pool, v, out.begin(), 0, std::plus<>{}, loops),
                 spool::interrupted);
    EXPECT_THROW(spool::parallel_sort(pool, v, {}, {}, other), spool::interrupted);
    EXPECT_THROW(spool::parallel_stable_sort(pool, v, {}, {}, other), spool::interrupted);
    EXPECT_EQ(v, before);
    EXPECT_EQ(std::count(out.begin(), out.end(), -1), 1000);
}

}  // namespace
