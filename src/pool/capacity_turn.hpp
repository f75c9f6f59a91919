// capacity_turn: one change of the queue's capacity at a time.
#pragma once

#include <atomic>
#include <thread>

#include "spool/detail/mutex.hpp"

namespace spool::inline v1 {

/// Unlike a lock of the pool, the turn is held while the queue, which may be user code, is called.
/// So a thread that has the turn gets no second one, and is told so instead of waiting for itself.
class capacity_turn {
public:
    /// Waits for the turn. False: this thread has the turn already.
    class holder {
    public:
        explicit holder(capacity_turn& turn) SPOOL_UNCHECKED_LOCKS
            : turn_(turn.owner_.load() == std::this_thread::get_id() ? nullptr : &turn) {
            if (turn_ != nullptr) {
                turn_->mutex_.lock();
                turn_->owner_.store(std::this_thread::get_id());
            }
        }
        holder(const holder&) = delete;
        holder& operator=(const holder&) = delete;
        ~holder() SPOOL_UNCHECKED_LOCKS {
            if (turn_ != nullptr) {
                turn_->owner_.store(std::thread::id{});
                turn_->mutex_.unlock();
            }
        }
        explicit operator bool() const noexcept { return turn_ != nullptr; }

    private:
        capacity_turn* turn_;
    };

private:
    detail::mutex mutex_;
    std::atomic<std::thread::id> owner_{};
};

}  // namespace spool::inline v1
