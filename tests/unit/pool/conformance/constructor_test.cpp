// What the constructor refuses. The original has four constructors; here the factory and the policy
// are options. So each row gives one bad value together with the options that its constructor
// takes.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

#include "unit/pool/conformance/conformance_pool.hpp"

namespace conformance {
namespace {

using spool::pool_options;
using spool::thread_pool_executor;

pool_options basic() {
    return sized(1, 1);
}
pool_options with_factory() {
    pool_options options = basic();
    options.thread_factory = plain_factory();
    return options;
}
pool_options with_policy() {
    pool_options options = basic();
    options.rejection = silent_policy();
    return options;
}
pool_options with_both() {
    pool_options options = with_factory();
    options.rejection = silent_policy();
    return options;
}

// One bad value, and what the message says about it.
struct flaw {
    void (*put_into)(pool_options&);
    std::string text;
};

flaw negative_core() {
    return {[](pool_options& o) { o.core_size = minus_one; },
            "core_size must not exceed 536870911 (core_size " + std::to_string(minus_one) +
                ", maximum_size 1; a negative number?)"};
}
flaw negative_maximum() {
    return {[](pool_options& o) { o.maximum_size = minus_one; },
            "maximum_size must not exceed 536870911 (core_size 1, maximum_size " + std::to_string(minus_one) +
                "; a negative number?)"};
}
flaw zero_maximum() {
    return {[](pool_options& o) { o.maximum_size = 0; },
            "maximum_size must not be 0 (core_size 1, maximum_size 0)"};
}
flaw negative_keep_alive() {
    return {[](pool_options& o) { o.keep_alive = std::chrono::nanoseconds{-1}; },
            "keep_alive must not be negative (-1 ns)"};
}
flaw core_above_maximum() {
    return {[](pool_options& o) { o.core_size = 2; },
            "maximum_size must not be less than core_size (core_size 2, maximum_size 1)"};
}
flaw missing_queue() {
    return {[](pool_options& o) { o.queue = nullptr; }, "the queue is null"};
}
flaw missing_factory() {
    return {[](pool_options& o) { o.thread_factory = {}; }, "the thread factory is empty"};
}
flaw missing_policy() {
    return {[](pool_options& o) { o.rejection = {}; }, "the rejection policy is empty"};
}

// The options are valid except for the flaw.
void expect_flaw_is_refused(pool_options (*make_options)(), const flaw& one) {
    EXPECT_NO_THROW(thread_pool_executor{make_options()});
    pool_options options = make_options();
    one.put_into(options);
    expect_refused([&] { const thread_pool_executor pool{std::move(options)}; }, one.text);
}

TEST(thread_pool_executor, TPE_027_a_negative_core_size_is_refused) {
    expect_flaw_is_refused(basic, negative_core());
}
TEST(thread_pool_executor, TPE_028_a_negative_maximum_is_refused) {
    expect_flaw_is_refused(basic, negative_maximum());
}
TEST(thread_pool_executor, TPE_029_a_maximum_of_zero_is_refused) {
    expect_flaw_is_refused(basic, zero_maximum());
}
TEST(thread_pool_executor, TPE_030_a_negative_keep_alive_is_refused) {
    expect_flaw_is_refused(basic, negative_keep_alive());
}
TEST(thread_pool_executor, TPE_031_a_core_size_above_the_maximum_is_refused) {
    expect_flaw_is_refused(basic, core_above_maximum());
}
TEST(thread_pool_executor, TPE_032_a_missing_queue_is_refused) {
    expect_flaw_is_refused(basic, missing_queue());
}

TEST(thread_pool_executor, TPE_033_a_negative_core_size_is_refused_also_with_a_factory) {
    expect_flaw_is_refused(with_factory, negative_core());
}
TEST(thread_pool_executor, TPE_034_a_negative_maximum_is_refused_also_with_a_factory) {
    expect_flaw_is_refused(with_factory, negative_maximum());
}
TEST(thread_pool_executor, TPE_035_a_maximum_of_zero_is_refused_also_with_a_factory) {
    expect_flaw_is_refused(with_factory, zero_maximum());
}
TEST(thread_pool_executor, TPE_036_a_negative_keep_alive_is_refused_also_with_a_factory) {
    expect_flaw_is_refused(with_factory, negative_keep_alive());
}
TEST(thread_pool_executor, TPE_037_a_core_size_above_the_maximum_is_refused_also_with_a_factory) {
    expect_flaw_is_refused(with_factory, core_above_maximum());
}
TEST(thread_pool_executor, TPE_038_a_missing_queue_is_refused_also_with_a_factory) {
    expect_flaw_is_refused(with_factory, missing_queue());
}
TEST(thread_pool_executor, TPE_039_a_missing_factory_is_refused) {
    expect_flaw_is_refused(with_factory, missing_factory());
}

TEST(thread_pool_executor, TPE_040_a_negative_core_size_is_refused_also_with_a_policy) {
    expect_flaw_is_refused(with_policy, negative_core());
}
TEST(thread_pool_executor, TPE_041_a_negative_maximum_is_refused_also_with_a_policy) {
    expect_flaw_is_refused(with_policy, negative_maximum());
}
TEST(thread_pool_executor, TPE_042_a_maximum_of_zero_is_refused_also_with_a_policy) {
    expect_flaw_is_refused(with_policy, zero_maximum());
}
TEST(thread_pool_executor, TPE_043_a_negative_keep_alive_is_refused_also_with_a_policy) {
    expect_flaw_is_refused(with_policy, negative_keep_alive());
}
TEST(thread_pool_executor, TPE_044_a_core_size_above_the_maximum_is_refused_also_with_a_policy) {
    expect_flaw_is_refused(with_policy, core_above_maximum());
}
TEST(thread_pool_executor, TPE_045_a_missing_queue_is_refused_also_with_a_policy) {
    expect_flaw_is_refused(with_policy, missing_queue());
}
TEST(thread_pool_executor, TPE_046_a_missing_policy_is_refused) {
    expect_flaw_is_refused(with_policy, missing_policy());
}

TEST(thread_pool_executor, TPE_047_a_negative_core_size_is_refused_also_with_factory_and_policy) {
    expect_flaw_is_refused(with_both, negative_core());
}
TEST(thread_pool_executor, TPE_048_a_negative_maximum_is_refused_also_with_factory_and_policy) {
    expect_flaw_is_refused(with_both, negative_maximum());
}
TEST(thread_pool_executor, TPE_049_a_maximum_of_zero_is_refused_also_with_factory_and_policy) {
    expect_flaw_is_refused(with_both, zero_maximum());
}
TEST(thread_pool_executor, TPE_050_a_negative_keep_alive_is_refused_also_with_factory_and_policy) {
    expect_flaw_is_refused(with_both, negative_keep_alive());
}
TEST(thread_pool_executor, TPE_051_a_core_size_above_the_maximum_is_refused_also_with_factory_and_policy) {
    expect_flaw_is_refused(with_both, core_above_maximum());
}
TEST(thread_pool_executor, TPE_052_a_missing_queue_is_refused_also_with_factory_and_policy) {
    expect_flaw_is_refused(with_both, missing_queue());
}
TEST(thread_pool_executor, TPE_053_a_missing_policy_is_refused_also_with_a_factory) {
    expect_flaw_is_refused(with_both, missing_policy());
}
TEST(thread_pool_executor, TPE_054_a_missing_factory_is_refused_also_with_a_policy) {
    expect_flaw_is_refused(with_both, missing_factory());
}

}  // namespace
}  // namespace conformance
