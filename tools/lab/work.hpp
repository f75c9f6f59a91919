// What tasks do: wait, or compute. And how a thread gets exact times.
#pragma once

#include <chrono>

namespace spool::lab {

/// Wakes at the time it asked for rather than up to 50 us later. For this thread.
void ask_for_exact_timers() noexcept;

/// Runs before all others when it is ready, where the system allows that; threads that it starts do not. For this thread.
void ask_to_go_first() noexcept;

/// Marks this thread as the one that submits.
void be_submitting_thread() noexcept;
[[nodiscard]] bool on_submitting_thread() noexcept;

/// As a call to a disk or to another service does. \throws spool::interrupted when the current task is to stop
void wait_until(std::chrono::steady_clock::time_point end);

/// Uses this much of a CPU, however long that takes among others.
void compute_for(std::chrono::nanoseconds cpu_time);

}  // namespace spool::lab
