// Every kind of executor, as the contract suites see it.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "spool/spool.hpp"
#include "support/blocker.hpp"
#include "support/delays.hpp"

namespace test {

using action = std::function<void()>;
using job = std::function<std::string()>;
using jobs = std::vector<job>;
using results = std::vector<spool::future<std::string>>;

/// Which threads run the tasks of an executor.
enum class crew {
    caller,     ///< the thread that calls execute(); the call returns after the task
    one,        ///< one worker; further tasks wait in a queue
    asked_for,  ///< as many workers as the test asks for; further tasks wait in a queue
    unlimited,  ///< a thread for every task; no task waits in a queue
};

/// An executor, and the service that it runs its tasks on.
struct built {
    /// Null if the executor runs its tasks itself.
    std::unique_ptr<spool::executor_service> target;
    std::unique_ptr<spool::executor> executor;
};

struct executor_kind {
    std::string name;
    std::string label;  ///< the expected executor_label()
    crew workers = crew::caller;
    bool is_service = false;
    bool is_pool = false;
    bool takes_factory = false;
    bool lifo = false;  ///< the newest task leaves the queue first
    /// A kind without threads ignores both arguments. A kind with a fixed number of workers ignores
    /// `workers`.
    std::function<built(std::size_t workers, const spool::thread_factory& factory)> make;

    friend void PrintTo(const executor_kind& kind, std::ostream* out) { *out << kind.name; }
};

/// All kinds for which `suits` is true.
[[nodiscard]] std::vector<executor_kind> executor_kinds(
    const std::function<bool(const executor_kind&)>& suits = [](const executor_kind&) { return true; });

inline bool is_service(const executor_kind& kind) {
    return kind.is_service;
}
inline bool is_pool(const executor_kind& kind) {
    return kind.is_pool;
}
/// Whether tasks run on other threads than the caller's.
inline bool has_threads(const executor_kind& kind) {
    return kind.workers != crew::caller;
}
inline bool is_threaded_service(const executor_kind& kind) {
    return kind.is_service && has_threads(kind);
}
/// Whether a task waits in a queue while every worker is busy.
inline bool has_queue(const executor_kind& kind) {
    return kind.workers == crew::one || kind.workers == crew::asked_for;
}
/// Whether two tasks can run at the same time.
inline bool is_concurrent(const executor_kind& kind) {
    return kind.workers == crew::asked_for || kind.workers == crew::unlimited;
}

struct name_of_kind {
    std::string operator()(const testing::TestParamInfo<executor_kind>& info) const {
        return info.param.name;
    }
};

/// The executor under test, and the tasks that block in it. The destructor releases those tasks,
/// shuts the executor down, and fails the test if the executor does not terminate. Declare a
/// subject after everything that its tasks refer to.
class any_subject {
public:
    any_subject(const executor_kind& kind, std::size_t workers, const spool::thread_factory& factory);
    any_subject(const any_subject&) = delete;
    any_subject& operator=(const any_subject&) = delete;
    ~any_subject();

    /// Submits through the member submit() of the executor's type, if it has one.
    template <class F>
    [[nodiscard]] auto submit(F f) {
        if constexpr (std::is_void_v<std::invoke_result_t<F&>>) {
            return submit_action(std::move(f));
        } else {
            return submit_job(std::move(f));
        }
    }
    [[nodiscard]] spool::future<std::string> submit(action f, std::string value);

    template <class... Timeout>
    [[nodiscard]] results invoke_all(const jobs& all, Timeout... timeout) {
        spool::executor_service* const service = as<spool::executor_service>();
        return service != nullptr ? service->invoke_all(all, timeout...)
                                  : spool::invoke_all(executor(), all, timeout...);
    }
    template <class... Timeout>
    std::string invoke_any(const jobs& all, Timeout... timeout) {
        spool::executor_service* const service = as<spool::executor_service>();
        return service != nullptr ? service->invoke_any(all, timeout...)
                                  : spool::invoke_any(executor(), all, timeout...);
    }

    /// Makes a task that blocks until release() and ignores stop requests.
    [[nodiscard]] action blocked() { return blocker_.body(); }
    /// Waits until exactly `n` blocked tasks run.
    [[nodiscard]] bool holds(int n) const { return blocker_.holds(n); }
    void release() { blocker_.release(); }
    /// How many blocked tasks have ended.
    [[nodiscard]] int left() const { return blocker_.left(); }

    /// Releases the blocked tasks, shuts the executor down and waits for its termination. Returns
    /// false if the executor does not terminate.
    [[nodiscard]] bool ends();
    /// Destroys the executor without calling shutdown().
    void destroy();

    /// The counts of tasks and workers. They stay 0 for an executor that reports none.
    [[nodiscard]] spool::pool_snapshot numbers() const;
    [[nodiscard]] spool::executor& executor() const { return *built_.executor; }
    /// The executor as an `Interface`; null if its type does not derive from that.
    template <class Interface>
    [[nodiscard]] Interface* as() const {
        return dynamic_cast<Interface*>(built_.executor.get());
    }

private:
    [[nodiscard]] spool::future<void> submit_action(action f);
    [[nodiscard]] spool::future<std::string> submit_job(job f);
    [[nodiscard]] spool::executor_service* life() const;

    const std::string name_;
    blocker blocker_;  // before the executor, whose tasks use it
    built built_;
};

/// `->` calls the executor. `.` calls any_subject, which blocks, releases and ends.
template <class Interface>
class subject : public any_subject {
public:
    using any_subject::any_subject;
    Interface& operator*() const { return dynamic_cast<Interface&>(executor()); }
    Interface* operator->() const { return &**this; }
};

/// The fixture of a suite over executors that derive from `Interface`.
template <class Interface>
class executor_test : public testing::TestWithParam<executor_kind> {
protected:
    static subject<Interface> make(std::size_t workers = 2,
                                   const spool::thread_factory& factory = spool::worker_thread_factory()) {
        return {GetParam(), workers, factory};
    }
};

/// Starts plain threads and counts them; equal only to its own copies.
[[nodiscard]] inline spool::thread_factory counting_factory(std::atomic<int>& made) {
    return [&made](spool::task body, const spool::worker_info&) {
        ++made;
        return std::thread{std::move(body)};
    };
}

}  // namespace test
