// The work of tasks: blocking or computing. Also timer and scheduling settings of threads.
#pragma once

#include <chrono>

namespace spool::lab {

/// Makes sleeps of the calling thread end on time, rather than up to 50 us later.
void ask_for_exact_timers() noexcept;

/// Lets the calling thread run before all others when it is ready, if the system permits: by
/// real-time scheduling, which threads that it starts do not inherit, else by a higher priority.
void ask_to_go_first() noexcept;

/// Marks the calling thread as the submitting thread.
void be_submitting_thread() noexcept;
[[nodiscard]] bool on_submitting_thread() noexcept;

/// Blocks, like a call to a disk or another service. Waits of 2 ms or more are interruptible.
/// \throws spool::interrupted when the current task is to stop
void wait_until(std::chrono::steady_clock::time_point end);

/// Computes until the calling thread has used this much CPU time.
void compute_for(std::chrono::nanoseconds cpu_time);

}  // namespace spool::lab
