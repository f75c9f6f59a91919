// own_queue: a queue as a user might write it, on a mutex and a deque, optionally with a fault (see
// plants.hpp).
#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <spool/spool.hpp>

#include "plants.hpp"

namespace soak {

class own_queue final : public spool::blocking_queue<spool::task> {
public:
    explicit own_queue(plant fault = plant::none) : fault_(fault) {}
    /// Destroys the tasks that plant::leaked_task has kept.
    static void give_up_hoard() {
        std::vector<spool::task> all;
        const std::lock_guard lock{hoard_mutex};
        all.swap(hoard);
    }

    [[nodiscard]] std::size_t size() const override {
        const std::lock_guard lock{mutex_};
        return elements_.size();
    }

protected:
    bool try_push(spool::task& x) override {
        if (fault_ == plant::lost_in_throw) {
            // As if the queue had caught an exception of a comparison.
            if (++pushed_ % 4 == 0) {
                x = nullptr;
                return true;
            }
        }
        const std::lock_guard lock{mutex_};
        elements_.push_back(std::move(x));
        return true;
    }
    std::optional<spool::task> try_pop() override {
        std::unique_lock lock{mutex_};
        if (elements_.empty()) {
            return std::nullopt;
        }
        spool::task head = std::move(elements_.front());
        elements_.pop_front();
        if (fault_ == plant::none || fault_ == plant::lost_in_throw || ++taken_ % 4 != 0) {
            return head;
        }
        // Without an owner: no thread waits for the task without a limit.
        if (fault_ == plant::leaked_task && head.owner() == nullptr) {
            const std::lock_guard hoard_lock{hoard_mutex};
            hoard.push_back(std::move(head));
            return spool::task{[] {}};
        }
        lock.unlock();
        switch (fault_) {
            case plant::double_run:
                return spool::task{[inner = std::move(head)]() mutable {
                    inner();
                    inner();
                }};
            case plant::wrong_count: run_here(head); return try_pop();
            default: break;
        }
        head = nullptr;
        return spool::task{[] {}};
    }
    std::vector<spool::task> extract_if(spool::function_ref<bool(const spool::task&)> wanted) override {
        const std::lock_guard lock{mutex_};
        std::vector<spool::task> out;
        std::deque<spool::task> rest;
        for (spool::task& t : elements_) {
            if (wanted(t)) {
                out.push_back(std::move(t));
            } else {
                rest.push_back(std::move(t));
            }
        }
        elements_.swap(rest);
        return out;
    }

private:
    static void run_here(spool::task& t) {
        try {
            t();
        } catch (...) {  // what the task throws is ignored
        }
    }

    inline static std::mutex hoard_mutex;  // guards hoard
    inline static std::vector<spool::task> hoard;

    const plant fault_;
    // Recursive: a move destroys the moved-from callable, whose destructor may call size().
    mutable std::recursive_mutex mutex_;
    std::deque<spool::task> elements_;
    int taken_ = 0;
    std::atomic<int> pushed_{0};
};

}  // namespace soak
