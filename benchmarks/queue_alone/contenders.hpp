// One adapter per queue. Each has push(T&&) -> bool and pop(T&) -> bool; neither blocks.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "spool/queue/array_blocking_queue.hpp"
#include "spool/queue/linked_blocking_queue.hpp"

#if defined(SPOOL_BENCH_TBB)
#include <oneapi/tbb/concurrent_queue.h>
#endif
#if defined(SPOOL_BENCH_MOODYCAMEL)
#include <concurrentqueue/concurrentqueue.h>
#endif

namespace bench {

template <class T>
class mutex_and_deque {
public:
    bool push(T&& x) {
        const std::lock_guard lock{mutex_};
        elements_.push_back(std::move(x));
        return true;
    }
    bool pop(T& x) {
        const std::lock_guard lock{mutex_};
        if (elements_.empty()) {
            return false;
        }
        x = std::move(elements_.front());
        elements_.pop_front();
        return true;
    }

private:
    std::mutex mutex_;
    std::deque<T> elements_;
};

template <class Queue, std::size_t... Capacity>
class spool_queue {
public:
    using element = typename Queue::value_type;
    bool push(element&& x) { return queue_.offer(std::move(x)); }
    bool pop(element& x) {
        std::optional<element> head = queue_.poll();
        if (!head.has_value()) {
            return false;
        }
        x = *std::move(head);
        return true;
    }

private:
    Queue queue_{Capacity...};
};
template <class T>
using linked_queue = spool_queue<spool::linked_blocking_queue<T>>;
template <class T>
using array_queue = spool_queue<spool::array_blocking_queue<T>, 65536>;

#if defined(SPOOL_BENCH_TBB)
template <class T>
class tbb_queue {
public:
    bool push(T&& x) {
        queue_.push(std::move(x));
        return true;
    }
    bool pop(T& x) { return queue_.try_pop(x); }

private:
    oneapi::tbb::concurrent_queue<T> queue_;
};
#endif

#if defined(SPOOL_BENCH_MOODYCAMEL)
template <class T>
class moodycamel_queue {
public:
    bool push(T&& x) { return queue_.enqueue(std::move(x)); }
    bool pop(T& x) { return queue_.try_dequeue(x); }

private:
    moodycamel::ConcurrentQueue<T> queue_;
};
#endif

}  // namespace bench
