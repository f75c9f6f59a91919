// Kinds of tasks: by type, or by the name that named() gives.
#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "measure_helpers.hpp"

namespace {

using namespace std::chrono_literals;

struct decode_frame {
    void operator()() const {}
};
template <int N>
struct numbered {
    void operator()() const {}
};
template <int... N>
void execute_each(spool::thread_pool_executor& pool, std::integer_sequence<int, N...>) {
    (pool.execute(numbered<N>{}), ...);
}

spool::pool_options timed() {
    return {.core_size = 1, .maximum_size = 1, .measure = spool::measuring::every()};
}

}  // namespace

TEST(pool_kinds, are_the_types_of_callables_also_inside_futures) {
    spool::thread_pool_executor pool(timed());
    pool.execute(decode_frame{});
    pool.submit(decode_frame{}).get();
    pool.close();
    const spool::pool_reading r = pool.read();
    ASSERT_EQ(r.kinds.size(), 1U);
    EXPECT_NE(r.kinds[0].kind.find("decode_frame"), std::string::npos) << r.kinds[0].kind;
    EXPECT_EQ(r.kinds[0].tasks, 2U);
}

TEST(pool_kinds, have_the_name_that_named_gives_through_any_wrapper) {
    spool::thread_pool_executor pool(timed());
    pool.execute(spool::named("thumbnail", [] { test::compute_for(1ms); }));
    pool.submit(spool::named("thumbnail", [] {})).get();
    pool.submit(spool::with_priority(3, spool::named("thumbnail", [] {}))).get();
    const auto later = std::chrono::steady_clock::now() + 1h;
    pool.submit(spool::expires_at(later, spool::named("thumbnail", [] {}))).get();
    pool.submit(spool::named("parse", [](std::stop_token) { return 1; })).get();
    pool.close();
    const spool::pool_reading r = pool.read();
    ASSERT_NE(test::find_kind(r, "thumbnail"), nullptr);
    EXPECT_EQ(test::find_kind(r, "thumbnail")->tasks, 4U);
    EXPECT_GE(test::find_kind(r, "thumbnail")->run, 1ms);
    ASSERT_NE(test::find_kind(r, "parse"), nullptr);
    EXPECT_EQ(test::find_kind(r, "parse")->tasks, 1U);
}

TEST(pool_kinds, beyond_the_thirty_second_count_as_other) {
    spool::thread_pool_executor pool(timed());
    execute_each(pool, std::make_integer_sequence<int, 40>{});
    pool.close();
    const spool::pool_reading r = pool.read();
    EXPECT_EQ(r.kinds.size(), 33U);
    ASSERT_NE(test::find_kind(r, "other"), nullptr);
    EXPECT_EQ(test::find_kind(r, "other")->tasks, 8U);
}

TEST(pool_kinds, a_named_callable_keeps_its_properties) {
    struct urgent {
        [[nodiscard]] int priority() const { return 7; }
        void operator()() const {}
    };
    const spool::task t{spool::named("x", urgent{})};
    EXPECT_EQ(t.priority(), 7);
    EXPECT_STREQ(t.kind(), "x");
    const spool::task empty{spool::named("x", std::function<void()>{})};
    EXPECT_TRUE(empty.empty());
}
