// libuv: one uv_timer_t per timer, on the loop of the calling thread. No lock; resolution 1 ms.
#pragma once

#include <uv.h>

#include <bit>
#include <chrono>
#include <cstdint>
#include <stdexcept>

#include "pools/support/figures.hpp"

namespace bench {

class libuv_timers {
public:
    using handle = uv_timer_t;
    static constexpr bool handle_is_timer = true;

    libuv_timers() {
        if (uv_loop_init(&loop_) != 0) {
            throw std::runtime_error("libuv: no loop");
        }
    }
    libuv_timers(const libuv_timers&) = delete;
    libuv_timers& operator=(const libuv_timers&) = delete;
    ~libuv_timers() { uv_loop_close(&loop_); }

    template <class F>
    void start(handle& h, nanoseconds delay, F f) {
        uv_timer_init(&loop_, &h);
        h.data = std::bit_cast<void*>(f);
        const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(delay).count();
        uv_timer_start(
            &h,
            [](uv_timer_t* fired) {
                std::bit_cast<F>(fired->data)();
                uv_close(reinterpret_cast<uv_handle_t*>(fired), nullptr);
            },
            static_cast<std::uint64_t>(milliseconds), 0);
    }
    bool cancel(handle& h) {
        const bool waits = uv_is_active(reinterpret_cast<uv_handle_t*>(&h)) != 0;
        uv_timer_stop(&h);
        return waits;
    }
    void settle() {}  // uv_timer_stop() removes the timer from the heap
    /// Makes the loop release all handles: the caller owns them and is about to destroy them.
    void forget_handles() {
        uv_walk(
            &loop_,
            [](uv_handle_t* h, void*) {
                if (uv_is_closing(h) == 0) {
                    uv_close(h, nullptr);
                }
            },
            nullptr);
        uv_run(&loop_, UV_RUN_DEFAULT);
    }
    template <class Done>
    void run_until(Done done) {
        while (!done()) {
            uv_run(&loop_, UV_RUN_DEFAULT);
        }
    }
    /// Updates the loop's cached time, from which delays count; else only iterations update it.
    void refresh_clock() { uv_update_time(&loop_); }

private:
    uv_loop_t loop_{};
};

}  // namespace bench
