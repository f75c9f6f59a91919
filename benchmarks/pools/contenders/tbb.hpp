// oneTBB in two forms: enqueue into an arena of workers, and a task_group in which the caller also
// runs tasks.
#pragma once

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <cstddef>
#include <type_traits>
#include <utility>

#include "pools/support/contender.hpp"

namespace bench {

namespace tbb = oneapi::tbb;

/// The arena reserves no slot for the caller. The parallelism limit counts the caller too, so it is
/// one above the number of workers: otherwise a machine with 2 cores would get only one worker.
class tbb_enqueue {
public:
    static constexpr traits about{
        .name = "tbb-enqueue", .label = "oneTBB task_arena::enqueue", .takes_sleepers = false};

    explicit tbb_enqueue(pool_shape shape)
        : limit_(tbb::global_control::max_allowed_parallelism, shape.workers + 1),
          arena_(static_cast<int>(shape.workers), 0) {}

    template <class F>
    void post(F&& f) {
        arena_.enqueue(std::forward<F>(f));
    }

private:
    tbb::global_control limit_;
    tbb::task_arena arena_;
};

/// The caller plus one worker fewer than requested, which is how oneTBB is meant to be used.
class tbb_task_group {
public:
    static constexpr traits about{.name = "tbb-task-group",
                                  .label = "oneTBB task_group (caller takes part)",
                                  .gives = hand_over::never,
                                  .takes_sleepers = false};

    explicit tbb_task_group(pool_shape shape)
        : limit_(tbb::global_control::max_allowed_parallelism, shape.workers) {}
    ~tbb_task_group() { tasks_.wait(); }
    tbb_task_group(const tbb_task_group&) = delete;
    tbb_task_group& operator=(const tbb_task_group&) = delete;

    template <class F>
    void post(F&& f) {
        tasks_.run(std::forward<F>(f));
    }
    void finish() { tasks_.wait(); }

    /// get() waits in the group, so the caller usually runs the task itself. Waiting on a
    /// std::future would prevent that.
    template <class F>
    class ticket {
    public:
        ticket(tbb::task_group& tasks, F f) : tasks_(tasks) {
            tasks_.run([this, f] { value_ = f(); });
        }
        ticket(const ticket&) = delete;
        ticket& operator=(const ticket&) = delete;
        ~ticket() { tasks_.wait(); }
        [[nodiscard]] auto get() {
            tasks_.wait();
            return value_;
        }

    private:
        tbb::task_group& tasks_;
        std::invoke_result_t<F> value_{};
    };
    template <class F>
    ticket<F> submit(F f) {
        return ticket<F>{tasks_, f};
    }

private:
    tbb::global_control limit_;
    tbb::task_group tasks_;
};

class tbb_fork_join {
public:
    explicit tbb_fork_join(std::size_t threads)
        : limit_(tbb::global_control::max_allowed_parallelism, threads) {}

    template <class F>
    void in(F f) {
        f();
    }

    class group {
    public:
        explicit group(tbb_fork_join&) {}
        template <class F>
        void run(F f) {
            tasks_.run(std::move(f));
        }
        void wait() { tasks_.wait(); }

    private:
        tbb::task_group tasks_;
    };

private:
    tbb::global_control limit_;
};

}  // namespace bench
