// Circles of waiting workers, for tests.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <spool/spool.hpp>

#include "support/eventually.hpp"
#include "support/gate.hpp"
#include "unit/pool/behaviour/pool_helpers.hpp"

namespace test {

/// What the handlers were told.
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
    /// Somebody in it waits for the task of `f`.
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

/// Two tasks, in a pool each, that wait for a task which they submit to the other pool. Declare it before the pools.
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

/// Two tasks that run, each of which waits for the other's future. Where they run is for the caller to say. Declare it
/// before the pools.
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
    /// When both run, so that neither can run the other's body itself.
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
