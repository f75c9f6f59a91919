// W14: one outside thread submits tasks that each return an int, keeps the futures, then gets
// them all; 2 workers. W14d: the same, but the thread drops each future at once, and the
// measurement ends when the last task has run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "pools/support/contender.hpp"
#include "pools/support/latches.hpp"
#include "pools/support/process.hpp"
#include "pools/support/tally.hpp"
#include "pools/workloads/w01_one_producer.hpp"

namespace bench {

enum class futures_are { kept, dropped };

/// Eight bytes captured. Returns its number, so that the sum of the results is known.
struct answer {
    std::size_t number;
    int operator()() const {
        tally::add(number);
        return static_cast<int>(number);
    }
};

/// What the outside thread does. The constructor writes to the whole array of futures, so that the
/// array does not count as growth of the memory later.
template <class Pool>
class outside_submitter {
public:
    outside_submitter(std::size_t tasks, futures_are what)
        : tasks_(tasks), what_(what), futures_(what == futures_are::kept ? tasks : 0) {}

    void submit_all(Pool& pool) {
        if (what_ == futures_are::dropped) {
            for (std::size_t i = 0; i < tasks_; ++i) {
                static_cast<void>(submit_to(pool, answer{i}));
            }
            return;
        }
        for (std::size_t i = 0; i < tasks_; ++i) {
            futures_[i] = submit_to(pool, answer{i});
        }
    }

    /// Returns when all tasks have run. Getting a result also releases its future, so that the time
    /// includes freeing the memory. \throws inexact if the sum of the results is wrong
    void collect(const expected_tasks& all) {
        if (what_ == futures_are::dropped) {
            all.wait();
            return;
        }
        std::size_t sum = 0;
        for (auto& one : futures_) {
            sum += static_cast<std::size_t>(std::move(one).get());
        }
        require_equal(sum, tasks_ * (tasks_ - 1) / 2, "sum of the results");
    }

private:
    using future_type = decltype(submit_to(std::declval<Pool&>(), answer{}));

    std::size_t tasks_;
    futures_are what_;
    std::vector<future_type> futures_;
};

/// The first round weighs: a gate holds the workers until all tasks are pending, and the process
/// has no memory to reuse yet. The second round, without a gate, gives all other figures.
template <class Pool>
figures w14_futures(std::size_t tasks, futures_are what) {
    constexpr std::size_t workers = 2;
    outside_submitter<Pool> outside{tasks, what};
    double growth = 0;
    flood found;
    const auto measure = [&] {
        gate held;  // outlives the pool, whose workers may still be leaving the gate
        Pool pool{{.workers = workers}};
        warm_up(pool, std::min<std::size_t>(tasks, 1'000));
        if (queues_without_limit<Pool>) {
            for (std::size_t i = 0; i < workers; ++i) {
                pool.post([&held] { held.pass(); });
            }
            held.await_waiting(workers);
        }
        const double bytes_before = resident_bytes();
        const expected_tasks first{tasks};
        outside.submit_all(pool);
        growth = resident_bytes() - bytes_before;
        held.open();
        outside.collect(first);
        first.check();

        const usage before = usage_now();
        const expected_tasks all{tasks};
        outside.submit_all(pool);
        found.posting_seconds = all.seconds();
        outside.collect(all);
        found.seconds = all.seconds();
        found.used = usage_now() - before;
        return all;
    };
    measure().check();
    const auto count = static_cast<double>(tasks);
    figures result{{"Mtasks_s", count / found.seconds / 1e6},
                   {"ns_per_submit", found.posting_seconds * 1e9 / count},
                   {"cpu_ns_per_task", found.used.cpu_seconds * 1e9 / count},
                   {"context_switches", found.used.context_switches}};
    if (queues_without_limit<Pool>) {
        result.emplace_back("bytes_per_pending", growth / count);
    }
    return result;
}

}  // namespace bench
