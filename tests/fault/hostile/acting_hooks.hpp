// Hooks that do something hostile once, in a chosen hook.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <spool/spool.hpp>

#include "support/gate.hpp"

namespace test {

enum class hook { worker_started, before_execute, after_execute, worker_stopped, terminated };

inline std::string name_of(hook h) {
    switch (h) {
        case hook::worker_started: return "worker_started";
        case hook::before_execute: return "before_execute";
        case hook::after_execute: return "after_execute";
        case hook::worker_stopped: return "worker_stopped";
        case hook::terminated: break;
    }
    return "terminated";
}

/// The first call of the hook `where` waits until the test opens `may_act`, then calls `act` and
/// opens `acted`. Counts live workers and terminations.
struct acting_hooks : spool::pool_hooks {
    acting_hooks(hook at, std::function<void()> what) : where(at), act(std::move(what)) {}

    void worker_started(const spool::worker_info&) override {
        ++workers;
        strike(hook::worker_started);
    }
    void before_execute(const spool::task_info&) override { strike(hook::before_execute); }
    void after_execute(const spool::task_info&, const std::exception_ptr&) override {
        strike(hook::after_execute);
    }
    void worker_stopped(const spool::worker_info&) override {
        --workers;
        strike(hook::worker_stopped);
    }
    void terminated() override {
        ++ends;
        strike(hook::terminated);
    }

    const hook where;
    const std::function<void()> act;
    gate may_act;
    gate acted;
    std::atomic<int> workers{0};
    std::atomic<int> ends{0};

private:
    void strike(hook at) {
        if (at == where && !struck_.exchange(true)) {
            may_act.wait();
            act();
            acted.open();
        }
    }
    std::atomic<bool> struck_{false};
};

}  // namespace test
