// Boost.Asio: one steady_timer per timer, on a thread_pool of one thread.
#pragma once

#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstddef>
#include <optional>
#include <thread>

#include "pools/support/figures.hpp"

namespace bench {

class asio_timers {
public:
    using handle = std::optional<boost::asio::steady_timer>;
    static constexpr bool handle_is_timer = true;

    template <class F>
    void start(handle& h, nanoseconds delay, F f) {
        h.emplace(pool_, delay);
        h->async_wait([f, aborted = &aborted_](boost::system::error_code e) {
            if (e) {
                aborted->fetch_add(1);
            } else {
                f();
            }
        });
    }
    bool cancel(handle& h) {
        const bool did = h->cancel() != 0;
        cancelled_ += did ? 1U : 0U;
        return did;
    }
    /// Waits until the handler of every cancelled timer has run. Asio calls it with an error, and
    /// its memory stays allocated until then.
    void settle() {
        while (aborted_ != cancelled_) {
            std::this_thread::sleep_for(std::chrono::microseconds{100});
        }
    }
    template <class Done>
    void run_until(Done done) {
        while (!done()) {
            std::this_thread::sleep_for(std::chrono::milliseconds{5});
        }
    }

private:
    std::atomic<std::size_t> aborted_{0};
    std::size_t cancelled_ = 0;
    boost::asio::thread_pool pool_{1};
};

}  // namespace bench
