// current_settings alone: checks, the version, and what a forked child reads.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <spool/spool.hpp>

#include "pool/current_settings.hpp"

namespace {

using namespace std::chrono_literals;

class pool_current_settings : public testing::Test {
protected:
    // The message of the refusal; empty: nothing was refused.
    template <class F>
    static std::string refusal_of(F f) {
        try {
            f();
        } catch (const std::invalid_argument& e) {
            return e.what();
        }
        return {};
    }

    spool::current_settings::result apply(const spool::pool_settings& next) {
        return settings.apply(next, std::nullopt, spool::apply_mode::change);
    }

    const std::string label = "pool \"p\"";
    spool::pool_options options{.core_size = 2, .maximum_size = 4, .keep_alive = 5s};
    spool::current_settings settings{label, options, false};
};

}  // namespace

TEST_F(pool_current_settings, start_with_the_options) {
    EXPECT_EQ(settings.core_size(), 2U);
    EXPECT_EQ(settings.maximum_size(), 4U);
    EXPECT_EQ(settings.keep_alive(), 5s);
    EXPECT_FALSE(settings.sizes().core_may_time_out);
    EXPECT_FALSE(settings.sizes().queue_first);
    EXPECT_TRUE(static_cast<bool>(settings.factory()));
    EXPECT_TRUE(static_cast<bool>(settings.rejection()));
}

TEST_F(pool_current_settings, refuse_a_core_above_the_maximum_and_change_nothing) {
    const std::uint64_t before = settings.version();
    EXPECT_EQ(refusal_of([&] { apply({.core_size = 5}); }),
              "pool \"p\": maximum_size must not be less than core_size (core_size 5, maximum_size 4)");
    EXPECT_NE(refusal_of([&] { apply({.maximum_size = 1}); }), "");
    EXPECT_NE(refusal_of([&] { apply({.maximum_size = 0}); }), "");
    EXPECT_EQ(settings.core_size(), 2U);
    EXPECT_EQ(settings.maximum_size(), 4U);
    EXPECT_EQ(settings.version(), before);
}

TEST_F(pool_current_settings, raise_the_version_with_every_change_of_a_number) {
    std::uint64_t before = settings.version();
    const auto is_raised = [&] { return settings.version() > std::exchange(before, settings.version()); };
    EXPECT_EQ(apply({.core_size = 3}).core_before, 2U) << "the size before";
    EXPECT_TRUE(is_raised());
    apply({.maximum_size = 8});
    EXPECT_TRUE(is_raised());
    apply({.keep_alive = 1s});
    EXPECT_TRUE(is_raised());
    apply({.core_threads_may_time_out = true});
    EXPECT_TRUE(is_raised());
}

TEST_F(pool_current_settings, take_one_version_for_a_change_of_every_field) {
    const std::uint64_t before = settings.version();
    const spool::settings_change change = apply({.core_size = 6,
                                                 .maximum_size = 9,
                                                 .keep_alive = 7s,
                                                 .core_threads_may_time_out = true,
                                                 .rejection = spool::block_policy{}})
                                              .change;
    EXPECT_EQ(settings.version(), before + 1);
    EXPECT_EQ(change.version, before + 1);
    const std::vector<spool::setting_change> all{{"core_size", "2", "6"},
                                                 {"maximum_size", "4", "9"},
                                                 {"keep_alive", "5000000000 ns", "7000000000 ns"},
                                                 {"core_threads_may_time_out", "false", "true"},
                                                 {"rejection", "abort", "block"}};
    EXPECT_EQ(change.fields, all);
}

TEST_F(pool_current_settings, keep_the_version_if_no_value_differs) {
    const std::uint64_t before = settings.version();
    EXPECT_TRUE(apply({.core_size = 2, .keep_alive = 5s}).change.fields.empty());
    EXPECT_TRUE(apply({}).change.fields.empty());
    EXPECT_EQ(settings.version(), before);
}

TEST_F(pool_current_settings, refuse_core_threads_that_would_come_and_go_with_every_task) {
    apply({.keep_alive = 0s});
    EXPECT_NE(refusal_of([&] { apply({.core_threads_may_time_out = true}); }), "");
    apply({.keep_alive = 1s});
    apply({.core_threads_may_time_out = true});
    EXPECT_NE(refusal_of([&] { apply({.keep_alive = 0s}); }), "");
    EXPECT_NE(refusal_of([&] { apply({.keep_alive = -1s}); }), "");
    EXPECT_EQ(settings.keep_alive(), 1s);
}

TEST_F(pool_current_settings, refuse_an_empty_policy_and_an_empty_factory) {
    EXPECT_EQ(refusal_of([&] { apply({.rejection = spool::rejection_policy{}}); }),
              "pool \"p\": the rejection policy is empty");
    EXPECT_EQ(refusal_of([&] { settings.set_factory({}); }), "pool \"p\": the thread factory is empty");
}

TEST_F(pool_current_settings, give_a_forked_child_the_values_of_that_instant) {
    const spool::rejection_policy policy = spool::discard_policy{};
    apply({.rejection = policy});
    apply({.core_size = 1});
    spool::pool_options copy;
    settings.copy_after_fork(copy);
    EXPECT_EQ(copy.core_size, 1U);
    EXPECT_EQ(copy.maximum_size, 4U);
    EXPECT_EQ(std::chrono::nanoseconds{copy.keep_alive}, 5s);
    EXPECT_EQ(copy.rejection, policy);
}
