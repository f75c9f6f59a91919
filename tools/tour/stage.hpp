// The stage: a real pool, tasks that run until they are told to end, and somebody who looks every 50 ms.
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

/// The sizes that the show begins with.
inline constexpr std::size_t core_size = 4;
inline constexpr std::size_t maximum_size = 8;
inline constexpr std::size_t queue_capacity = 12;

/// Thrown through the show when a signal asks for its end.
struct curtain {
    int signal;
};

/// The pool did not do what the act says.
struct show_failed : std::runtime_error {
    using runtime_error::runtime_error;
};

/// What an act did to the pool, for the summary.
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
    /// A beat is the unit of time of the show.
    stage(view& audience, std::chrono::milliseconds beat, std::size_t acts);
    /// Tasks that nobody lets end any more are asked to stop.
    ~stage();

    [[nodiscard]] spool::thread_pool_executor& pool() noexcept { return pool_; }
    [[nodiscard]] std::chrono::milliseconds beats(int n) const noexcept { return n * beat_; }

    void begin(act_text text);
    void end();

    /// Gives the pool a task that runs until finish() lets one end. Counts whether it was accepted or refused.
    void submit();
    /// Lets one of the running tasks end.
    void finish();
    /// Lets time pass. \throws curtain
    void play(int n) { play_for(beats(n)); }
    /// Lets time pass until the pool has so many workers, so many that run a task, has completed what it accepted, or has
    /// terminated. \throws curtain, show_failed after ten seconds
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
    spool::pool_snapshot before_;  // when the act began
    std::vector<act_record> records_;
    spool::linked_blocking_queue<char> permits_;  // one lets one task end
    spool::thread_pool_executor pool_;            // last: its tasks use the rest
};

/// Asks for the curtain, from a signal handler.
void request_curtain(int signal) noexcept;

}  // namespace tour
