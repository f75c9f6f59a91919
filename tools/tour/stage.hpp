// The stage: a real pool, tasks that run until finish() ends them, and a view that is updated every
// 50 ms.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <spool/spool.hpp>

#include "view.hpp"

namespace tour {

/// The sizes at the start of the show.
inline constexpr std::size_t core_size = 4;
inline constexpr std::size_t maximum_size = 8;
inline constexpr std::size_t queue_capacity = 12;

/// Thrown to end the show after a signal.
struct curtain {
    int signal;
};

/// Thrown when the pool did not do what the act says.
struct show_failed : std::runtime_error {
    using runtime_error::runtime_error;
};

/// Figures of one act, for the summary.
struct act_record {
    const char* title;
    std::size_t peak_size = 0;
    std::size_t peak_queue = 0;
    std::size_t last_size = 0;
    std::uint64_t rejected = 0;
    std::uint64_t completed = 0;
};

class stage {
public:
    /// `beat` is the unit of time of the show.
    stage(view& audience, std::chrono::milliseconds beat, std::size_t acts);
    /// Shuts the pool down with shutdown_now(), so that tasks without a permit end.
    ~stage();

    [[nodiscard]] spool::thread_pool_executor& pool() noexcept { return pool_; }
    [[nodiscard]] std::chrono::milliseconds beats(int n) const noexcept { return n * beat_; }

    void begin(act_text text);
    void end();

    /// Submits a task that runs until a finish() ends it. Counts whether the pool accepted or
    /// rejected it.
    void submit();
    /// Ends one of the running tasks.
    void finish();
    /// Lets time pass. \throws curtain
    void play(int n) { play_for(beats(n)); }
    /// Lets time pass until the pool has `n` workers, or `n` active workers, or has completed every
    /// accepted task, or has terminated. \throws curtain, or show_failed after ten seconds
    void play_until_size(std::size_t n);
    void play_until_active(std::size_t n);
    void play_until_all_completed();
    void play_until_terminated();

    [[nodiscard]] const std::vector<act_record>& records() const noexcept { return records_; }
    [[nodiscard]] std::uint64_t accepted() const noexcept { return accepted_; }
    [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }

private:
    void play_for(std::chrono::milliseconds d);
    template <class Condition>
    void play_until(Condition condition, const char* what);
    frame observe();

    view& audience_;
    const std::chrono::milliseconds beat_;
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::chrono::steady_clock::time_point next_look_ = start_;
    std::uint64_t accepted_ = 0;
    std::uint64_t refused_ = 0;
    frame now_;
    spool::pool_snapshot before_;  // at the start of the act
    std::vector<act_record> records_;
    spool::linked_blocking_queue<char> permits_;  // each permit ends one task
    spool::thread_pool_executor pool_;            // declared last: its tasks use the members above
};

/// Makes play() throw curtain. Safe in a signal handler.
void request_curtain(int signal) noexcept;

}  // namespace tour
