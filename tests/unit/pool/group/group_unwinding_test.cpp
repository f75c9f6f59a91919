// Groups that are constructed while an exception is in flight: only an exception that leaves the
// group's own scope cancels it.
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "base/exceptions_in_flight.hpp"
#include "group_helpers.hpp"
#include "support/throws.hpp"

namespace {

using spool::task_group;
using spool::thread_pool_executor;

// Runs `f` in its destructor.
template <class F>
struct at_exit {
    F f;
    ~at_exit() { f(); }
};
template <class F>
at_exit(F) -> at_exit<F>;

// Runs `f` while an exception is in flight.
template <class F>
void during_unwinding(F f) {
    try {
        const at_exit now{f};
        throw std::runtime_error("in flight");
    } catch (const std::runtime_error& e) {
        EXPECT_STREQ(e.what(), "in flight");
    }
}

class group_unwinding : public testing::TestWithParam<bool> {
protected:
    // Runs `f` in the test's own thread, or in a task.
    template <class F>
    void here_or_in_pool(F f) {
        if (GetParam()) {
            test::in_time(pool_.submit(f));
        } else {
            f();
        }
    }
    // Forks children and leaves the wait to the group's destructor.
    void flush() {
        task_group children{pool_};
        for (int i = 0; i < 100; ++i) {
            children.run([this] { ++ran_; });
        }
    }
    thread_pool_executor pool_{test::of_size(1, test::stealing())};
    std::atomic<int> ran_{0};
};
INSTANTIATE_TEST_SUITE_P(threads, group_unwinding, testing::Bool(),
                         [](const auto& instance) { return instance.param ? "worker" : "outside"; });

TEST_P(group_unwinding, group_made_in_a_destructor_runs_all_its_children) {
    here_or_in_pool([this] { during_unwinding([this] { flush(); }); });
    EXPECT_EQ(ran_, 100);
}

TEST_P(group_unwinding, group_of_a_task_that_a_destructor_waits_for_runs_all_its_children) {
    here_or_in_pool([this] { during_unwinding([this] { pool_.submit([this] { flush(); }).get(); }); });
    EXPECT_EQ(ran_, 100);
}

TEST_P(group_unwinding, group_of_a_child_that_a_destructor_waits_for_runs_all_its_children) {
    here_or_in_pool([this] {
        during_unwinding([this] {
            task_group outer{pool_};
            outer.run([this] { flush(); });
            outer.wait();
        });
    });
    EXPECT_EQ(ran_, 100);
}

// On the only worker, so that no child begins before the group is destroyed.
TEST(group_unwinding_of_one, group_that_a_second_exception_leaves_is_cancelled) {
    std::atomic<int> ran{0};
    thread_pool_executor pool{test::of_size(1, test::stealing())};
    test::in_time(pool.submit([&] {
        during_unwinding([&] {
            try {
                task_group children{pool};
                children.run([&ran] { ++ran; });
                throw std::logic_error("on the way");
            } catch (const std::logic_error&) {}
        });
    }));
    EXPECT_EQ(ran, 0);
}

TEST_P(group_unwinding, group_made_in_a_destructor_reports_what_nobody_waited_for) {
    testing::internal::CaptureStderr();
    here_or_in_pool([this] {
        during_unwinding([this] {
            task_group children{pool_};
            children.run([] { throw std::logic_error("nobody asked"); });
        });
    });
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_TRUE(test::contains(text, "nobody asked")) << text;
}

// The fast count equals that of the standard library at every depth, on every thread.
TEST(group_unwinding_count, exceptions_in_flight_is_what_the_standard_library_counts) {
    thread_pool_executor pool{test::of_size(1)};
    const auto compare = [](int expected) {
        EXPECT_EQ(spool::detail::exceptions_in_flight(), std::uncaught_exceptions());
        EXPECT_EQ(spool::detail::exceptions_in_flight(), expected);
    };
    const auto at_every_depth = [&] {
        compare(0);
        during_unwinding([&] {
            compare(1);
            during_unwinding([&] { compare(2); });
            compare(1);
        });
        compare(0);
        try {
            throw std::runtime_error("caught");
        } catch (const std::runtime_error&) {
            compare(0);
        }
    };
    at_every_depth();
    test::in_time(pool.submit(at_every_depth));
}

}  // namespace
