// Executors that a test controls.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <utility>
#include <vector>

#include "spool/base/error.hpp"
#include "spool/detail/task_scope.hpp"
#include "spool/executor/executor_service.hpp"

namespace test {

/// Passes each task to a function, which may count, refuse, drop or forward it.
class executor_of final : public spool::executor {
public:
    explicit executor_of(std::function<void(spool::task)> how) : how_(std::move(how)) {}
    void execute(spool::task work) override { how_(std::move(work)); }

private:
    std::function<void(spool::task)> how_;
};

/// Runs its tasks on another executor, and decorates the bodies of those that become futures.
class decorated_executor final : public spool::executor {
public:
    decorated_executor(spool::executor& target, spool::task_decorator decorator)
        : target_(target), decorator_(std::move(decorator)) {}
    void execute(spool::task work) override { target_.execute(std::move(work)); }
    [[nodiscard]] const spool::task_decorator* decorator() const noexcept override { return &decorator_; }

private:
    spool::executor& target_;
    spool::task_decorator decorator_;
};

/// Holds its tasks until the test runs, drops or takes back some of them. Terminated once it is
/// shut down and holds none.
class manual_service final : public spool::executor_service {
public:
    void execute(spool::task work) override {
        spool::require_callable(work, "manual_service");
        const std::lock_guard lock{mutex_};
        if (shut_down_) {
            throw spool::rejected_execution(spool::rejection_reason::shut_down, "manual_service");
        }
        held_.push_back(std::move(work));
    }
    /// Runs the oldest task here; false if there is none.
    bool run_one() {
        spool::task work = take();
        if (work.empty()) {
            return false;
        }
        const spool::task_scope scope{work};
        work();
        return true;
    }
    void run_all() {
        while (run_one()) {}
    }
    /// Destroys the oldest task; false if there is none.
    bool drop_one() { return !take().empty(); }
    [[nodiscard]] std::size_t held() const {
        const std::lock_guard lock{mutex_};
        return held_.size();
    }
    struct order {
        int priority;
        spool::due_time due;
    };
    /// The priority and due time of the oldest task. Precondition: there is one.
    [[nodiscard]] order next_order() const {
        const std::lock_guard lock{mutex_};
        return {held_.at(0).priority(), held_.at(0).due()};
    }

    void shutdown() override {
        const std::lock_guard lock{mutex_};
        shut_down_ = true;
        changed_.notify_all();
    }
    std::vector<spool::task> shutdown_now() override {
        shutdown();
        std::vector<spool::task> back;
        for (spool::task work = take(); !work.empty(); work = take()) {
            back.push_back(std::move(work));
        }
        return back;
    }
    [[nodiscard]] bool is_shutdown() const override {
        const std::lock_guard lock{mutex_};
        return shut_down_;
    }
    [[nodiscard]] bool is_terminated() const override {
        const std::lock_guard lock{mutex_};
        return shut_down_ && held_.empty();
    }
    bool await_termination_until(spool::deadline until, std::stop_token stop) override {
        const auto terminated = [this] { return shut_down_ && held_.empty(); };
        std::unique_lock lock{mutex_};
        const bool ended = until.is_never() ? changed_.wait(lock, stop, terminated)
                                            : changed_.wait_until(lock, stop, until.when(), terminated);
        if (!ended && stop.stop_requested()) {
            throw spool::interrupted("manual_service::await_termination");
        }
        return ended;
    }

private:
    spool::task take() {
        const std::lock_guard lock{mutex_};
        spool::task oldest;
        if (!held_.empty()) {
            oldest = std::move(held_.front());
            held_.pop_front();
        }
        changed_.notify_all();
        return oldest;
    }

    // A standard mutex, not the library's waiting, since the library is what is under test.
    mutable std::mutex mutex_;
    std::deque<spool::task> held_;
    bool shut_down_ = false;
    std::condition_variable_any changed_;
};

}  // namespace test
