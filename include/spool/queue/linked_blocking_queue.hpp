// linked_blocking_queue: first in, first out, without limit or with one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <iterator>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "spool/queue/blocking_queue.hpp"

namespace spool::inline v1 {

/// FIFO; unbounded unless a capacity is given. See blocking_queue for everything else.
template <class T>
class linked_blocking_queue final : public blocking_queue<T> {
public:
    linked_blocking_queue() = default;
    /// \throws std::invalid_argument if `capacity` is 0.
    explicit linked_blocking_queue(std::size_t capacity) : capacity_(capacity) {
        if (capacity == 0) {
            throw std::invalid_argument("linked_blocking_queue: capacity must be at least 1, not 0");
        }
    }

    [[nodiscard]] std::size_t size() const override {
        const std::lock_guard lock{mutex_};
        return elements_.size();
    }
    [[nodiscard]] std::size_t capacity() const override { return capacity_; }

protected:
    bool try_push(T& x) override {
        const std::lock_guard lock{mutex_};
        if (elements_.size() >= capacity_) {
            return false;
        }
        elements_.push_back(std::move(x));
        return true;
    }

    std::optional<T> try_pop() override {
        const std::lock_guard lock{mutex_};
        if (elements_.empty()) {
            return std::nullopt;
        }
        std::optional<T> head{std::move(elements_.front())};
        elements_.pop_front();
        return head;
    }

    std::vector<T> extract_if(function_ref<bool(const T&)> wanted) override {
        std::vector<T> out;
        const std::lock_guard lock{mutex_};
        std::vector<bool> chosen;
        chosen.reserve(elements_.size());
        for (const T& x : elements_) {
            chosen.push_back(wanted(x));
        }
        out.reserve(static_cast<std::size_t>(std::count(chosen.begin(), chosen.end(), true)));
        // Nothing has moved so far, so a throw above leaves the queue as it was.
        auto keep = elements_.begin();
        auto chosen_one = chosen.begin();
        for (auto it = elements_.begin(); it != elements_.end(); ++it, ++chosen_one) {
            if (*chosen_one) {
                out.push_back(std::move(*it));
            } else if (keep++ != it) {
                *std::prev(keep) = std::move(*it);
            }
        }
        elements_.erase(keep, elements_.end());
        return out;
    }

private:
    const std::size_t capacity_ = blocking_queue<T>::unlimited;
    mutable std::mutex mutex_;  // guards elements_; the pair (M) of both waits
    std::deque<T> elements_;
};

}  // namespace spool::inline v1
