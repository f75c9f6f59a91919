// pool_termination: the threads that wait for a pool's end, and those inside close() on its
// workers.
#pragma once

#include <atomic>
#include <cstddef>
#include <thread>
#include <utility>

#include "pool/control_word.hpp"
#include "pool/pool_config.hpp"
#include "pool/worker/worker.hpp"
#include "spool/sync/event_count.hpp"

namespace spool::inline v1 {

class pool_termination {
public:
    /// Wakes the threads inside await(). pair (S): the caller has changed what they look at, the
    /// control word or the roster, before.
    void notify() noexcept { changed_.notify_all(); }
    template <class Ready>
    wait_result await(const Ready& ready, const wait_limits& limits = {}) {
        return changed_.await(ready, limits);
    }

    // ---- close() on a worker waits until the other workers are gone or are inside close() too

    /// The worker is inside close(), until leave_close(). Calls may repeat.
    void enter_close(worker& w) noexcept {
        if (!std::exchange(w.closing, true)) {
            closers_like(w).fetch_add(1);
        }
    }
    void leave_close(worker& w) noexcept {
        if (std::exchange(w.closing, false)) {
            closers_like(w).fetch_sub(1);
        }
    }
    [[nodiscard]] bool only_closers_left(const control_word& control) const noexcept {
        return control.has_at_most(closers_.load(), leaving_closers_.load());
    }

    // ---- The terminated hook

    /// Runs the hook, if there is one, on this thread.
    void run_hook(const pool_config& config) {
        if (config.hooks != nullptr) {
            hook_thread_.store(std::this_thread::get_id());
            config.guarded(config.pool_info, [&] { config.hooks->terminated(); });
            hook_thread_.store({});
        }
    }
    [[nodiscard]] bool is_hook_here() const noexcept {
        return hook_thread_.load() == std::this_thread::get_id();
    }

private:
    [[nodiscard]] std::atomic<std::size_t>& closers_like(const worker& w) noexcept {
        return w.leaving ? leaving_closers_ : closers_;
    }

    std::atomic<std::size_t> closers_{0};          // workers inside close()
    std::atomic<std::size_t> leaving_closers_{0};  // departing workers inside close()
    std::atomic<std::thread::id> hook_thread_{};
    event_count changed_;
};

}  // namespace spool::inline v1
