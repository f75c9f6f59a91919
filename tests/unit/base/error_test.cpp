// The exceptions of Spool, as a user reads them.
#include <gtest/gtest.h>

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "spool/base/callable.hpp"
#include "spool/base/error.hpp"
#include "support/throws.hpp"

namespace {

using spool::rejected_execution;
using spool::rejection_reason;

// Copying an exception must not throw: a throw during a throw ends the program.
template <class E>
constexpr bool is_sound_exception = std::is_nothrow_copy_constructible_v<E>&&
    std::is_nothrow_copy_assignable_v<E>&& std::is_base_of_v<std::runtime_error, E>;
static_assert(is_sound_exception<rejected_execution>);
static_assert(is_sound_exception<spool::cancelled>);
static_assert(is_sound_exception<spool::timed_out>);
static_assert(is_sound_exception<spool::interrupted>);
static_assert(is_sound_exception<spool::deadlock>);

TEST(rejected_execution_text, names_executor_reason_and_numbers) {
    const rejected_execution full{rejection_reason::full, "pool \"io\"", "threads 4 of 4, queued 100"};
    EXPECT_STREQ(full.what(), "pool \"io\": task rejected, queue full (threads 4 of 4, queued 100)");
    EXPECT_EQ(full.reason(), rejection_reason::full);
    EXPECT_EQ(full.executor(), "pool \"io\"");
}

TEST(rejected_execution_text, leaves_out_missing_numbers) {
    const rejected_execution error{rejection_reason::shut_down, "pool"};
    EXPECT_STREQ(error.what(), "pool: task rejected, shut down");
}

TEST(rejected_execution_text, every_reason_has_its_words) {
    const std::pair<rejection_reason, std::string> reasons[] = {{rejection_reason::full, "queue full"},
                                                                {rejection_reason::shut_down, "shut down"},
                                                                {rejection_reason::evicted, "evicted"},
                                                                {rejection_reason::no_thread, "no thread"}};
    for (const auto& [reason, words] : reasons) {
        EXPECT_EQ(spool::to_string(reason), words);
        const rejected_execution error{reason, "x"};
        EXPECT_EQ(error.what(), "x: task rejected, " + words);
        EXPECT_EQ(error.reason(), reason);
    }
}

TEST(rejected_execution_text, copy_has_the_same_text_after_the_original_is_destroyed) {
    auto original = std::make_unique<rejected_execution>(rejection_reason::evicted, "pool", "1");
    const rejected_execution copy{*original};
    rejected_execution assigned{rejection_reason::full, "other"};
    assigned = *original;
    original.reset();
    for (const rejected_execution* error : {&copy, &std::as_const(assigned)}) {
        EXPECT_STREQ(error->what(), "pool: task rejected, evicted (1)");
        EXPECT_EQ(error->reason(), rejection_reason::evicted);
        EXPECT_EQ(error->executor(), "pool");
    }
}

TEST(error_text, simple_errors_have_the_given_text) {
    EXPECT_STREQ(spool::cancelled{}.what(), "the task was cancelled");
    EXPECT_STREQ(spool::cancelled{"task 7"}.what(), "task 7");
    EXPECT_STREQ(spool::timed_out{"too late"}.what(), "too late");
    EXPECT_STREQ(spool::interrupted{"stop"}.what(), "stop");
}

template <class E>
class simple_error : public testing::Test {};
using simple_errors = testing::Types<spool::cancelled, spool::timed_out, spool::interrupted, spool::deadlock>;
TYPED_TEST_SUITE(simple_error, simple_errors);

TYPED_TEST(simple_error, copies_have_the_same_text_after_the_original_is_destroyed) {
    auto original = std::make_unique<TypeParam>("task 7");
    const TypeParam copy{*original};
    TypeParam assigned{"another"};
    assigned = *original;
    original.reset();
    EXPECT_STREQ(copy.what(), "task 7");
    EXPECT_STREQ(assigned.what(), "task 7");
}

TEST(error_text, empty_callable_is_an_invalid_argument_that_names_the_refusing_object) {
    EXPECT_EQ(test::what_of<std::invalid_argument>([] { spool::detail::throw_empty_callable("submit"); }),
              "submit: empty callable");
}

TEST(error_description, standard_exception_is_described_by_its_text) {
    EXPECT_EQ(spool::describe(std::make_exception_ptr(std::runtime_error("disk full"))), "disk full");
    EXPECT_EQ(spool::describe(std::make_exception_ptr(spool::cancelled{})), "the task was cancelled");
}

TEST(error_description, foreign_exception_is_described_as_such) {
    EXPECT_EQ(spool::describe(std::make_exception_ptr(42)), "an exception that is no std::exception");
}

TEST(error_description, null_pointer_is_no_exception) {
    EXPECT_EQ(spool::describe(nullptr), "no exception");
}

}  // namespace
