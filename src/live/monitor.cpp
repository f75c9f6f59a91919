#include "spool/live/monitor.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <fstream>
#include <list>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include "live/followed_pool.hpp"

namespace spool::inline v1::live {
namespace {

using clock = std::chrono::steady_clock;

void check_positive(std::chrono::nanoseconds d, const char* field) {
    if (d <= std::chrono::nanoseconds{0}) {
        throw std::invalid_argument(std::string{"spool::live::monitor: "} + field + " must be positive (" +
                                    std::to_string(d.count()) + " ns)");
    }
}

// Writes beside the file and renames, so that a reader never sees half of it.
void write_by_rename(const std::filesystem::path& file, const std::string& text) {
    std::filesystem::path next = file;
    next += "." + std::to_string(::getpid()) + ".tmp";
    const auto failed = [&](const char* what) {
        const std::error_code code{errno, std::generic_category()};
        std::error_code ignored;
        std::filesystem::remove(next, ignored);
        throw std::system_error(code, "metrics file " + file.string() + ": cannot " + what);
    };
    {
        std::ofstream out{next, std::ios::binary | std::ios::trunc};
        if (!out) {
            failed("create a file beside it");
        }
        out << text;
        out.close();
        if (!out) {
            failed("write a file beside it");
        }
    }
    if (std::rename(next.c_str(), file.c_str()) != 0) {
        failed("replace it");
    }
}

}  // namespace

class monitor::core {
public:
    explicit core(monitor_options options) : options_(std::move(options)) {
        check_positive(options_.tick, "tick");
        check_positive(options_.metrics_every, "metrics_every");
        tick();
        // No signal handler of the program runs on the monitor's thread.
        sigset_t all;
        sigset_t before;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before);
        try {
            thread_ = std::thread{[this] { run(); }};
        } catch (...) {
            ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
            throw;
        }
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }

    /// False in a forked child, where a lock may be held for ever.
    [[nodiscard]] bool is_here() const noexcept { return process_ == ::getpid(); }

    void stop() {
        {
            const std::lock_guard lock{wake_mutex_};
            stop_ = true;
        }
        wake_.notify_all();
        thread_.join();
        for (const followed_pool& f : followed_) {
            try {
                turn_off(f);
            } catch (...) {  // no memory: the pool goes on measuring
            }
        }
    }

    void tick() {
        const std::lock_guard one_at_a_time{tick_mutex_};
        follow_new_pools();
        const machine_load machine = machine_.read();
        for (followed_pool& f : followed_) {
            // The pools are read without the lock that readers of the monitor take.
            std::optional<pool_reading> now = f.pool().read();
            const auto workers = f.pool().workers();
            if (!now.has_value() || !workers.has_value()) {
                continue;  // it ends with the next tick
            }
            std::chrono::nanoseconds longest{0};
            for (const worker_reading& w : *workers) {
                longest = std::max(longest, w.for_at_least);
            }
            const std::lock_guard lock{mutex_};
            f.add(*std::move(now), longest, machine, options_.history);
        }
        const std::lock_guard lock{mutex_};
        ++ticks_;
    }

    template <class F>
    auto with_pools(F f) const {
        const std::lock_guard lock{mutex_};
        return f(followed_);
    }
    [[nodiscard]] std::size_t left_out() const {
        const std::lock_guard lock{mutex_};
        return left_out_;
    }
    [[nodiscard]] std::uint64_t ticks() const {
        const std::lock_guard lock{mutex_};
        return ticks_;
    }

private:
    void run() {
#if defined(__linux__)
        ::pthread_setname_np(::pthread_self(), "spool-live");
#endif
        clock::time_point next = clock::now();
        clock::time_point next_file = next;
        for (;;) {
            next += std::chrono::duration_cast<clock::duration>(std::chrono::nanoseconds{options_.tick});
            next = std::max(next, clock::now());
            {
                std::unique_lock lock{wake_mutex_};
                if (wake_.wait_until(lock, next, [this] { return stop_; })) {
                    return;
                }
            }
            guarded("a tick", tick_failed_, [this] { tick(); });
            if (!options_.metrics_file.empty() && clock::now() >= next_file) {
                next_file = clock::now() + std::chrono::nanoseconds{options_.metrics_every};
                guarded("the metrics file", file_failed_, [this] { write_file(); });
            }
        }
    }

    void write_file() const {
        const std::vector<pool_status> all = with_pools([](const std::list<followed_pool>& pools) {
            std::vector<pool_status> copy;
            for (const followed_pool& f : pools) {
                copy.push_back(f.status());
            }
            return copy;
        });
        write_by_rename(options_.metrics_file,
                        live::exposition(all, exposition_format::prometheus, left_out()));
    }

    // Reports a failure once, until the same step succeeds again.
    template <class F>
    void guarded(const char* what, bool& failed_before, F f) noexcept {
        try {
            f();
            failed_before = false;
        } catch (const std::exception& e) {
            if (!std::exchange(failed_before, true)) {
                report(std::string{"spool::live::monitor: "} + what + " failed: " + e.what());
            }
        } catch (...) {
            if (!std::exchange(failed_before, true)) {
                report(std::string{"spool::live::monitor: "} + what + " failed: an unknown exception");
            }
        }
    }
    void report(const std::string& message) noexcept {
        try {
            if (options_.report) {
                options_.report(message);
            } else {
                std::fprintf(stderr, "%s\n", message.c_str());
            }
        } catch (...) {  // the user's callable threw: there is nowhere to tell
        }
    }

    void turn_on(followed_pool& f) {
        const std::optional<pool_reading> now = f.pool().read();
        if (options_.measure.is_on() && now.has_value() && now->period == 0) {
            f.turned_on = f.pool().apply({.measure = options_.measure}).has_value();
        }
    }
    static void turn_off(const followed_pool& f) {
        if (f.turned_on) {
            f.pool().apply({.measure = measuring::off()});
        }
    }

    // The label of a new pool: its name, or the first "name#n" that is free.
    [[nodiscard]] std::string label_for(const std::string& name) const {
        std::string label = name;
        for (int n = 2; std::any_of(followed_.begin(), followed_.end(),
                                    [&](const followed_pool& f) { return f.status().label == label; });
             ++n) {
            label = name + "#" + std::to_string(n);
        }
        return label;
    }

    // On the thread of the tick: only ticks change the list.
    void follow_new_pools() {
        std::list<followed_pool> gone;  // destroyed after the lock
        std::vector<pool_handle> all = all_pools();
        std::reverse(all.begin(), all.end());  // oldest first
        {
            const std::lock_guard lock{mutex_};
            for (auto f = followed_.begin(); f != followed_.end();) {
                const auto next = std::next(f);
                if (f->pool().is_gone()) {
                    gone.splice(gone.end(), followed_, f);
                }
                f = next;
            }
        }
        std::size_t left_out = 0;
        for (const pool_handle& handle : all) {
            const bool known = std::any_of(followed_.begin(), followed_.end(),
                                           [&](const followed_pool& f) { return f.pool() == handle; });
            if (known || (options_.include && !options_.include(handle.name()))) {
                continue;
            }
            if (followed_.size() >= options_.most_pools) {
                ++left_out;
                continue;
            }
            std::list<followed_pool> one;
            one.emplace_back(handle, label_for(handle.name()));
            turn_on(one.front());
            const std::lock_guard lock{mutex_};
            followed_.splice(followed_.end(), one);
        }
        const std::lock_guard lock{mutex_};
        left_out_ = left_out;
    }

    const monitor_options options_;
    const pid_t process_ = ::getpid();
    std::mutex tick_mutex_;  // held by a tick; comes before mutex_
    mutable std::mutex mutex_;
    std::list<followed_pool> followed_;  // changed under both locks, read under one of them
    std::size_t left_out_ = 0;           // under mutex_
    std::uint64_t ticks_ = 0;            // under mutex_
    machine_meter machine_;              // under tick_mutex_
    bool tick_failed_ = false;           // on the thread
    bool file_failed_ = false;           // on the thread
    std::mutex wake_mutex_;
    std::condition_variable wake_;
    bool stop_ = false;  // under wake_mutex_
    std::thread thread_;
};

monitor::monitor(monitor_options options) : core_(std::make_unique<core>(std::move(options))) {}

monitor::~monitor() {
    if (core_->is_here()) {
        core_->stop();
    } else {
        static_cast<void>(core_.release());  // the parent's, whose thread does not exist here
    }
}

std::vector<pool_status> monitor::pools() const {
    if (!core_->is_here()) {
        return {};
    }
    std::vector<pool_status> all = core_->with_pools([](const std::list<followed_pool>& pools) {
        std::vector<pool_status> copy;
        for (const followed_pool& f : pools) {
            if (f.status().reading.at != clock::time_point{}) {
                copy.push_back(f.status());
            }
        }
        return copy;
    });
    std::sort(all.begin(), all.end(),
              [](const pool_status& a, const pool_status& b) { return a.label < b.label; });
    return all;
}

std::vector<history_point> monitor::history(std::string_view label, clock::time_point since) const {
    if (!core_->is_here()) {
        return {};
    }
    return core_->with_pools([&](const std::list<followed_pool>& pools) -> std::vector<history_point> {
        const auto f = std::find_if(pools.begin(), pools.end(),
                                    [&](const followed_pool& one) { return one.status().label == label; });
        return f == pools.end() ? std::vector<history_point>{} : f->history(since);
    });
}

std::string monitor::exposition(exposition_format format) const {
    return live::exposition(pools(), format, core_->is_here() ? core_->left_out() : 0);
}

void monitor::tick() {
    if (core_->is_here()) {
        core_->tick();
    }
}

std::uint64_t monitor::ticks() const {
    return core_->is_here() ? core_->ticks() : 0;
}

}  // namespace spool::inline v1::live
