// thread_factory: starts a pool's threads and sets them up.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "spool/base/export.hpp"
#include "spool/base/task.hpp"

namespace spool::inline v1 {

/// Identifies a worker of a pool.
struct worker_info {
    std::string pool;        ///< the pool's name
    std::size_t number = 0;  ///< 1 for the pool's first worker, never used twice
    std::string name;        ///< "<pool>-<number>", as it appears in messages
};

/// A started thread, to be joined or detached once. Empty: no thread.
class SPOOL_API worker_thread {
public:
    /// The interface of a thread that is not a std::thread.
    class handle {
    public:
        handle() = default;
        handle(const handle&) = delete;
        handle& operator=(const handle&) = delete;
        virtual ~handle();
        virtual void join() = 0;
        virtual void detach() = 0;
    };

    worker_thread() noexcept = default;
    worker_thread(std::thread thread);  // implicit on purpose: a factory returns a std::thread
    explicit worker_thread(std::unique_ptr<handle> other) noexcept;
    worker_thread(worker_thread&&) noexcept;
    worker_thread& operator=(worker_thread&&) noexcept;
    ~worker_thread();

    explicit operator bool() const noexcept { return handle_ != nullptr; }
    void join();
    void detach();

private:
    std::unique_ptr<handle> handle_;
};

/// Starts a thread that calls `body` once, and returns it. A shared handle: copies are equal.
///
///     spool::thread_factory plain = [](spool::task body, const spool::worker_info&) {
///         return std::thread{std::move(body)};
///     };
///
/// The pool calls the factory from any thread, also concurrently, with no lock held. If the factory
/// throws or returns no thread, the pool goes on without that worker. It reports the failure to the
/// submitter if the task needed the worker. Other submitters may have queued tasks for that worker
/// meanwhile. If no worker is left for those tasks, the pool calls the factory again, up to eight
/// times.
class thread_factory {
public:
    thread_factory() noexcept = default;
    template <class F>
        requires(!std::same_as<std::remove_cvref_t<F>, thread_factory> &&
                 std::is_invocable_r_v<worker_thread, std::decay_t<F>&, task, const worker_info&>)
    thread_factory(F&& f) {
        if (!detail::is_empty_callable(f)) {
            start_ = std::make_shared<const function>(std::forward<F>(f));
        }
    }

    [[nodiscard]] worker_thread operator()(task body, const worker_info& info) const {
        return (*start_)(std::move(body), info);
    }
    explicit operator bool() const noexcept { return start_ != nullptr; }
    /// The same factory: one is a copy of the other.
    friend bool operator==(const thread_factory&, const thread_factory&) noexcept = default;

private:
    using function = std::function<worker_thread(task, const worker_info&)>;
    std::shared_ptr<const function> start_;
};

/// How worker_thread_factory sets up its threads. Starting a thread fails if the system does not
/// support a stack size, an affinity or a nice value that was asked for.
struct worker_thread_options {
    /// The thread's name for debuggers; `{pool}` and `{number}` are filled in. A name over the
    /// system's limit (15 characters on Linux) is cut in its front part: the number survives.
    std::string name_pattern = "{pool}-{number}";
    /// Bytes; 0: the system's default. A worker runs a task inside the wait of another task only
    /// while more than a quarter of its stack is free, and more than 64 KiB (half of a stack below
    /// 128 KiB). So each task begins with at least that much. If the bounds of the stack are
    /// unknown, tasks nest 256 deep.
    std::size_t stack_size = 0;
    std::vector<int> affinity{};  ///< CPUs that the thread may run on; empty: all
    /// One set of CPUs per thread, instead of `affinity`; empty: `affinity` applies. A new thread
    /// gets the set that the fewest living threads of this factory have. The successor of a worker
    /// that died gets the set of that worker. A thread whose set is empty may run on all CPUs.
    std::vector<std::vector<int>> affinity_per_thread{};
    std::optional<int> nice{};                           ///< nice value of the thread (Linux)
    std::function<void(const worker_info&)> on_start{};  ///< first thing on the thread
    std::function<void(const worker_info&)> on_exit{};   ///< last thing on the thread
};

/// The default factory, with settings. If the system refuses a setting (a CPU that this process may
/// not use, even one of several; a stack too small), the start fails with a std::system_error that
/// names the setting. A refused nice value, and what on_start or on_exit throws, is reported on
/// stderr.
///
///     .thread_factory = spool::worker_thread_factory({.stack_size = 262144, .affinity = {0, 1}})
///     .thread_factory = spool::worker_thread_factory({.affinity_per_thread = {{0}, {1}, {2}}})
[[nodiscard]] SPOOL_API thread_factory worker_thread_factory(worker_thread_options options = {});

/// `name_pattern` filled in and cut to `limit` characters so that what follows `{pool}` survives.
[[nodiscard]] SPOOL_API std::string worker_thread_name(const std::string& pattern, const worker_info& info,
                                                       std::size_t limit);

}  // namespace spool::inline v1
