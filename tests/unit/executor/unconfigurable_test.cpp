#include "spool/executor/unconfigurable.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/throws.hpp"
#include "unit/executor/direct_service.hpp"

namespace {

using namespace std::chrono_literals;

/// Records each call. Terminated from the start, so that nothing waits.
class noting_service final : public spool::executor_service {
public:
    explicit noting_service(std::vector<std::string>& calls) : calls_(calls) {}
    ~noting_service() override { calls_.push_back("destroyed"); }
    void execute(spool::task work) override {
        calls_.push_back("execute");
        work();
    }
    void execute_all(std::span<spool::task> work) override {
        calls_.push_back("execute_all of " + std::to_string(work.size()));
    }
    [[nodiscard]] const spool::task_decorator* decorator() const noexcept override { return &decorator_; }
    void shutdown() override { calls_.push_back("shutdown"); }
    std::vector<spool::task> shutdown_now() override {
        calls_.push_back("shutdown_now");
        std::vector<spool::task> back;
        back.emplace_back([] {});
        return back;
    }
    [[nodiscard]] bool is_shutdown() const override {
        calls_.push_back("is_shutdown");
        return true;
    }
    [[nodiscard]] bool is_terminated() const override {
        calls_.push_back("is_terminated");
        return false;
    }
    [[nodiscard]] bool is_terminating() const override {
        calls_.push_back("is_terminating");
        return false;
    }
    bool await_termination_until(spool::deadline, std::stop_token) override {
        calls_.push_back("await");
        return true;
    }
    void close() override { calls_.push_back("close"); }

private:
    std::vector<std::string>& calls_;
    spool::task_decorator decorator_ = [](spool::task body) { return body; };
};

TEST(unconfigurable_owning, a_null_service_is_refused) {
    const auto make = [] { (void)spool::unconfigurable(std::unique_ptr<spool::executor_service>{}); };
    EXPECT_EQ(test::what_of<std::invalid_argument>(make), "unconfigurable: the service is null");
}

TEST(unconfigurable_owning, every_call_goes_to_the_service) {
    std::vector<std::string> calls;
    {
        auto service = std::make_unique<noting_service>(calls);
        const spool::task_decorator* const decorator = service->decorator();
        spool::unconfigurable_service handle = spool::unconfigurable(std::move(service));
        EXPECT_EQ(handle.decorator(), decorator);
        handle.execute([] {});
        EXPECT_EQ(handle.submit([] { return 7; }).get(), 7);
        handle.shutdown();
        EXPECT_EQ(handle.shutdown_now().size(), 1U);
        EXPECT_TRUE(handle.is_shutdown());
        EXPECT_FALSE(handle.is_terminating());
        EXPECT_TRUE(handle.await_termination(1h));
        handle.close();
        calls.push_back("end");
    }
    EXPECT_EQ(calls, (std::vector<std::string>{"execute", "execute", "shutdown", "shutdown_now",
                                               "is_shutdown", "is_terminating", "is_terminated", "await",
                                               "close", "end", "close", "destroyed"}));
}

TEST(unconfigurable_owning, many_tasks_go_to_the_service_in_one_call) {
    std::vector<std::string> calls;
    std::vector<spool::task> three(3);
    {
        spool::unconfigurable_service handle = spool::unconfigurable(std::make_unique<noting_service>(calls));
        handle.execute_all(three);
    }
    EXPECT_EQ(calls, (std::vector<std::string>{"execute_all of 3", "close", "destroyed"}));
}

TEST(unconfigurable_owning, the_handle_cannot_be_cast_to_the_service) {
    spool::unconfigurable_service handle = spool::unconfigurable(std::make_unique<test::direct_service>());
    spool::executor_service& seen = handle;
    EXPECT_EQ(dynamic_cast<test::direct_service*>(&seen), nullptr);
}

template <class Handle>
concept has_a_life = requires(Handle& handle) {
    handle.shutdown();
}
|| requires(Handle& handle) {
    handle.shutdown_now();
}
|| requires(Handle& handle) {
    handle.close();
};

TEST(unconfigurable_by_reference, the_handle_has_no_call_to_end_the_service) {
    static_assert(has_a_life<spool::unconfigurable_service>);
    static_assert(!has_a_life<spool::submit_only>);
    static_assert(!std::is_base_of_v<spool::executor_service, spool::submit_only>);
    test::direct_service service;
    { const spool::submit_only handle = spool::unconfigurable(service); }
    EXPECT_FALSE(service.is_shutdown());
}

TEST(unconfigurable_by_reference, tasks_run_on_the_service) {
    test::direct_service service;
    spool::submit_only handle = spool::unconfigurable(service);
    bool ran = false;
    handle.execute([&] { ran = true; });
    EXPECT_TRUE(ran);
    EXPECT_EQ(handle.submit([] { return 7; }).get(), 7);
    EXPECT_EQ(handle.submit([] {}, std::string{"given"}).get(), "given");
    EXPECT_EQ(service.executed(), 3);
    EXPECT_THROW((void)handle.submit(std::function<void()>{}), std::invalid_argument);
}

TEST(unconfigurable_by_reference, many_tasks_go_to_the_service_in_one_call) {
    std::vector<std::string> calls;
    std::vector<spool::task> two(2);
    noting_service service{calls};
    spool::submit_only handle = spool::unconfigurable(service);
    handle.execute_all(two);
    EXPECT_EQ(calls, std::vector<std::string>{"execute_all of 2"});
}

TEST(unconfigurable_by_reference, the_decorator_of_the_service_wraps_its_tasks) {
    std::vector<std::string> calls;
    noting_service service{calls};
    spool::submit_only handle = spool::unconfigurable(service);
    EXPECT_EQ(handle.decorator(), service.decorator());
}

TEST(unconfigurable_by_reference, the_handle_cannot_be_cast_to_the_service) {
    test::direct_service service;
    spool::submit_only handle = spool::unconfigurable(service);
    spool::executor& seen = handle;
    EXPECT_EQ(dynamic_cast<spool::executor_service*>(&seen), nullptr);
}

}  // namespace
