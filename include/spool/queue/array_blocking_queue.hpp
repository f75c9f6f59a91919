// array_blocking_queue: first in, first out, with a fixed number of places.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "spool/queue/blocking_queue.hpp"

namespace spool::inline v1 {

/// FIFO over a ring whose places are allocated once: adding and taking never allocate. See blocking_queue for the rest.
template <class T>
class array_blocking_queue final : public blocking_queue<T> {
public:
    /// \throws std::invalid_argument if `capacity` is 0.
    explicit array_blocking_queue(std::size_t capacity) : ring_(capacity) {
        if (capacity == 0) {
            throw std::invalid_argument("array_blocking_queue: capacity must be at least 1, not 0");
        }
    }

    [[nodiscard]] std::size_t size() const override {
        const std::lock_guard lock{mutex_};
        return size_;
    }
    [[nodiscard]] std::size_t capacity() const override { return ring_.size(); }

protected:
    bool try_push(T& x) override {
        const std::lock_guard lock{mutex_};
        if (size_ == ring_.size()) {
            return false;
        }
        place(size_).emplace(std::move(x));
        ++size_;
        return true;
    }

    std::optional<T> try_pop() override {
        const std::lock_guard lock{mutex_};
        if (size_ == 0) {
            return std::nullopt;
        }
        std::optional<T> head = std::move(place(0));
        place(0).reset();
        head_ = (head_ + 1) % ring_.size();
        --size_;
        return head;
    }

    std::vector<T> extract_if(function_ref<bool(const T&)> wanted) override {
        std::vector<T> out;
        const std::lock_guard lock{mutex_};
        std::vector<bool> chosen(size_);
        std::size_t count = 0;
        for (std::size_t i = 0; i < size_; ++i) {
            chosen[i] = wanted(*place(i));
            count += chosen[i] ? 1 : 0;
        }
        out.reserve(count);
        // Nothing has moved so far, so a throw above leaves the queue as it was.
        std::size_t kept = 0;
        for (std::size_t i = 0; i < size_; ++i) {
            if (chosen[i]) {
                out.push_back(*std::move(place(i)));
                place(i).reset();
            } else {
                if (kept != i) {
                    place(kept).emplace(*std::move(place(i)));
                    place(i).reset();
                }
                ++kept;
            }
        }
        size_ = kept;
        return out;
    }

private:
    std::optional<T>& place(std::size_t i) { return ring_[(head_ + i) % ring_.size()]; }

    mutable std::mutex mutex_;  // guards everything below; the pair (M) of both waits
    std::vector<std::optional<T>> ring_;
    std::size_t head_ = 0;
    std::size_t size_ = 0;
};

}  // namespace spool::inline v1
