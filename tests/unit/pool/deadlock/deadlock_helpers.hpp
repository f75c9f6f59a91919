// Helpers for tests that make workers wait for each other in a circle.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <spool/spool.hpp>

#include "pool/deadlock/deadlock_watch.hpp"
#include "support/eventually.hpp"
#include "support/gate.hpp"
#include "unit/pool/behaviour/pool_helpers.hpp"

namespace test {

/// Collects the reports that the deadlock handlers receive.
class reports {
public:
    [[nodiscard]] spool::deadlock_policy::handler handler() {
        return [this](const spool::deadlock_report& r) { all_.add(r); };
    }
    [[nodiscard]] std::size_t size() const { return all_.size(); }
    [[nodiscard]] bool come() const {
        return eventually([this] { return size() != 0; });
    }
    [[nodiscard]] spool::deadlock_report first() const { return all_.all().at(0); }
    /// True if a worker in the first report waits for the task of `f`.
    template <class T>
    [[nodiscard]] bool names(const spool::future<T>& f) const {
        for (const spool::deadlocked_worker& w : first().workers) {
            if (w.waits_for == f.id()) {
                return true;
            }
        }
        return false;
    }

private:
    record<spool::deadlock_report> all_;
};

inline spool::pool_options of_size(std::size_t n, const std::string& name, spool::deadlock_policy policy) {
    return {.name = name, .core_size = n, .maximum_size = n, .on_deadlock = std::move(policy)};
}

/// Two tasks, one in each pool. Each submits a task to the other pool and waits for it. Declare it
/// before the pools.
class two_pools_that_wait {
public:
    void start(spool::thread_pool_executor& a, spool::thread_pool_executor& b) {
        first = a.submit([this, &b] { return wait_in(b, first_runs_); });
        second = b.submit([this, &a] { return wait_in(a, second_runs_); });
    }
    [[nodiscard]] bool close() {
        const bool both_run = first_runs_.opens() && second_runs_.opens();
        both_run_.open();
        return both_run;
    }
    spool::future<int> first;
    spool::future<int> second;

private:
    int wait_in(spool::thread_pool_executor& other, gate& runs) {
        runs.open();
        both_run_.wait();
        return other.submit([] { return 1; }).get();
    }
    gate first_runs_;
    gate second_runs_;
    gate both_run_;
};

/// Two running tasks, each of which waits for the other's future. start() says in which pools they
/// run. Declare it before the pools.
class circle_of_two {
public:
    void start(spool::thread_pool_executor& a, spool::thread_pool_executor& b) {
        first = a.submit([this] {
            first_runs_.open();
            both_known_.wait();
            return second.get();
        });
        second = b.submit([this] {
            second_runs_.open();
            both_known_.wait();
            return first.get();
        });
    }
    /// Closes the circle once both tasks run, so that neither waiter can run the other's body
    /// itself.
    [[nodiscard]] bool close() {
        const bool both_run = first_runs_.opens() && second_runs_.opens();
        both_known_.open();
        return both_run;
    }
    spool::future<int> first;
    spool::future<int> second;

private:
    gate first_runs_;
    gate second_runs_;
    gate both_known_;
};

}  // namespace test
