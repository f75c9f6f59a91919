// thread_factory: who starts a pool's threads, and how they are set up.
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

/// Which worker of which pool.
struct worker_info {
    std::string pool;        ///< the pool's name
    std::size_t number = 0;  ///< 1 for the pool's first worker, never used twice
    std::string name;        ///< "<pool>-<number>", as it appears in messages
};

/// A thread that was started, to be joined or detached once. Empty: no thread.
class SPOOL_API worker_thread {
public:
    /// What a thread of another kind than std::thread supplies.
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
/// It is called from any thread, several at a time, with no lock held. If it throws or returns no thread, the pool goes on
/// without that worker and tells the submitter if it has to; where others have queued tasks in reliance on it and no worker is left, it is called
/// again, up to eight times.
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

/// How the threads of worker_thread_factory are set up. What the system does not offer is an error where it was asked for.
struct worker_thread_options {
    /// The thread's name for debuggers; `{pool}` and `{number}` are filled in. Cut to the system's limit (15 characters on
    /// Linux) at the front part, so that the number survives.
    std::string name_pattern = "{pool}-{number}";
    /// Bytes; 0: the system's default. A worker runs a task inside the wait of another task only while more than a
    /// quarter of its stack is free, and more than 64 KiB (half of a stack below 128 KiB). So each task begins
    /// with at least that much. Where the bounds of the stack are unknown, tasks nest 256 deep.
    std::size_t stack_size = 0;
    std::vector<int> affinity{};  ///< CPUs that it may run on; empty: all
    /// One set of CPUs per thread, instead of `affinity`; empty: no difference between the threads. A new thread gets the
    /// set that the fewest living threads of this factory have. The successor of a worker that died gets the set of that
    /// worker. A thread whose set is empty may run on all CPUs.
    std::vector<std::vector<int>> affinity_per_thread{};
    std::optional<int> nice{};                           ///< nice value of the thread (Linux)
    std::function<void(const worker_info&)> on_start{};  ///< first thing on the thread
    std::function<void(const worker_info&)> on_exit{};   ///< last thing on the thread
};

/// The default factory, with settings. A setting that the system refuses (a CPU that this process may not use, a stack too
/// small) makes the start fail with std::system_error naming it, also where only one CPU of several is refused; a nice value
/// that it refuses, and what on_start or on_exit throws, is reported on stderr.
///
///     .thread_factory = spool::worker_thread_factory({.stack_size = 256 * 1024, .affinity = {0, 1}})
///     .thread_factory = spool::worker_thread_factory({.affinity_per_thread = {{0}, {1}, {2}, {3}}})
[[nodiscard]] SPOOL_API thread_factory worker_thread_factory(worker_thread_options options = {});

/// `name_pattern` filled in and cut to `limit` characters so that what follows `{pool}` survives.
[[nodiscard]] SPOOL_API std::string worker_thread_name(const std::string& pattern, const worker_info& info,
                                                       std::size_t limit);

}  // namespace spool::inline v1
