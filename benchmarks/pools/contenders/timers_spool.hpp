// Spool's scheduled pool with one worker.
#pragma once

#include <chrono>
#include <optional>
#include <thread>

#include "pools/support/figures.hpp"
#include "spool/schedule/scheduled_thread_pool_executor.hpp"

namespace bench {

class spool_timers {
public:
    using handle = std::optional<spool::scheduled_future<void>>;
    static constexpr bool handle_is_timer = false;

    template <class F>
    void start(handle& h, nanoseconds delay, F f) {
        h.emplace(pool_.schedule(f, delay));
    }
    bool cancel(handle& h) { return h->cancel(); }
    void settle() {}  // cancel() itself removes the task from the queue
    template <class Done>
    void run_until(Done done) {
        while (!done()) {
            std::this_thread::sleep_for(std::chrono::milliseconds{5});
        }
    }

private:
    spool::scheduled_thread_pool_executor pool_{{.name = "timers", .core_size = 1}};
};

}  // namespace bench
