// A bounded queue for tests. It tells when a submitter waits for room, can pretend to be empty, and
// can call a function in the middle of an operation.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <spool/spool.hpp>

#include "support/gate.hpp"

namespace test {

/// Runs a function once: on the next thread that calls strike().
class intrusion {
public:
    void arm(std::function<void()> what) {
        const std::lock_guard lock{mutex_};
        what_ = std::move(what);
    }
    void strike() {
        std::function<void()> what;
        {
            const std::lock_guard lock{mutex_};
            what.swap(what_);
        }
        if (what) {
            what();
        }
    }

private:
    std::mutex mutex_;
    std::function<void()> what_;
};

struct queue_script {
    std::atomic<int> waiting_for_room{0};  ///< submitters inside push_until
    std::atomic<bool> plays_empty{false};  ///< consumers find nothing; waits time out at once
    std::atomic<int> looks_while_empty{0};
    std::atomic<int> pushes{0};  ///< calls of try_push, whatever their result
    intrusion before_push;       ///< before the task is stored
    intrusion after_push;        ///< after the task is stored, before the call returns
    intrusion before_pop;        ///< before a consumer looks for a task
    intrusion after_pop;         ///< after a consumer has a task, before the call returns
    intrusion before_extract;    ///< before a search of the queue
    intrusion after_size;        ///< after the size is read, before the call returns
};

class scripted_queue final : public spool::blocking_queue<spool::task> {
public:
    scripted_queue(std::size_t capacity, queue_script& script) : inner_(capacity), script_(script) {}

    [[nodiscard]] std::size_t size() const override {
        const std::size_t now = inner_.size();
        script_.after_size.strike();
        return now;
    }
    [[nodiscard]] std::size_t capacity() const override { return inner_.capacity(); }

    spool::wait_result push_until(spool::task& x, const spool::wait_limits& limits,
                                  spool::function_ref<bool()> give_up) override {
        ++script_.waiting_for_room;
        const spool::wait_result how = blocking_queue::push_until(x, limits, give_up);
        --script_.waiting_for_room;
        return how;
    }
    spool::wait_result pop_until(std::optional<spool::task>& x, const spool::wait_limits& limits,
                                 spool::function_ref<bool()> give_up) override {
        if (script_.plays_empty) {
            return spool::wait_result::timed_out;
        }
        return blocking_queue::pop_until(x, limits, give_up);
    }

protected:
    bool try_push(spool::task& x) override {
        ++script_.pushes;
        script_.before_push.strike();
        const bool stored = inner_.offer(std::move(x));
        if (stored) {
            script_.after_push.strike();
        }
        return stored;
    }
    std::optional<spool::task> try_pop() override {
        script_.before_pop.strike();
        if (script_.plays_empty) {
            ++script_.looks_while_empty;
            return std::nullopt;
        }
        std::optional<spool::task> taken = inner_.poll();
        if (taken.has_value()) {
            script_.after_pop.strike();
        }
        return taken;
    }
    std::vector<spool::task> extract_if(spool::function_ref<bool(const spool::task&)> wanted) override {
        script_.before_extract.strike();
        return inner_.take_if(wanted);
    }

private:
    spool::array_blocking_queue<spool::task> inner_;
    queue_script& script_;
};

}  // namespace test
