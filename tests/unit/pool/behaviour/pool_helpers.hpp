// Helpers that the tests of the pool's behaviour share.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <spool/spool.hpp>

#include "support/delays.hpp"
#include "support/gate.hpp"

namespace test {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool under_thread_sanitizer = true;
#else
inline constexpr bool under_thread_sanitizer = false;
#endif

inline std::unique_ptr<spool::blocking_queue<spool::task>> bounded(std::size_t capacity) {
    return std::make_unique<spool::array_blocking_queue<spool::task>>(capacity);
}
inline std::unique_ptr<spool::blocking_queue<spool::task>> synchronous() {
    return std::make_unique<spool::synchronous_queue<spool::task>>();
}

/// Reports nothing on stderr. For tests whose tasks throw on purpose.
inline spool::uncaught_policy quiet() {
    return [](const spool::worker_info&, const std::exception_ptr&) {};
}

/// A list to which any thread may add.
template <class T>
class record {
public:
    void add(T x) {
        const std::lock_guard lock{mutex_};
        entries_.push_back(std::move(x));
    }
    [[nodiscard]] std::vector<T> all() const {
        const std::lock_guard lock{mutex_};
        return entries_;
    }
    [[nodiscard]] std::size_t size() const { return all().size(); }
    [[nodiscard]] std::size_t count(const T& x) const {
        const std::vector<T> now = all();
        return static_cast<std::size_t>(std::count(now.begin(), now.end(), x));
    }

private:
    mutable std::mutex mutex_;
    std::vector<T> entries_;
};

/// Keeps workers busy until it is released. Each call of hold() occupies one worker, and waits
/// until the task runs. Declare it before the pool.
class busy_workers {
public:
    void hold(spool::thread_pool_executor& pool) {
        const auto started = std::make_shared<gate>();
        pool.execute([this, started] {
            started->open();
            release_.wait();
        });
        all_started_ = started->opens() && all_started_;
    }
    void release() { release_.open(); }
    /// True if every task of hold() has started.
    [[nodiscard]] bool started() const { return all_started_; }
    [[nodiscard]] gate& release_gate() { return release_; }

private:
    gate release_;
    bool all_started_ = true;
};

/// The number of threads of this process. A detached thread of an earlier test may still be ending:
/// compare with <=.
inline std::size_t thread_count() {
    // ThreadSanitizer starts a thread of its own along with the program's first one: trigger that
    // before counting.
    [[maybe_unused]] static const bool first_started = (std::thread{[] {}}.join(), true);
    const std::filesystem::directory_iterator tasks{"/proc/self/task"};
    return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

/// The name by which the system knows this thread.
inline std::string own_thread_name() {
    char name[64] = {};
    pthread_getname_np(pthread_self(), name, sizeof(name));
    return name;
}

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// Shuts the pool down. True if it terminates in time.
inline bool ends(spool::thread_pool_executor& pool) {
    pool.shutdown();
    return pool.await_termination(long_delay());
}

}  // namespace test
