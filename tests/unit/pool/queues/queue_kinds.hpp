// Every kind of queue that a pool can have.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "spool/spool.hpp"

namespace test {

struct queue_kind {
    std::string name;
    std::function<std::unique_ptr<spool::blocking_queue<spool::task>>()> make;
    bool stores = true;
    friend void PrintTo(const queue_kind& k, std::ostream* out) { *out << k.name; }
};

template <class Queue, class... Args>
queue_kind kind_of(std::string name, Args... args) {
    return {std::move(name), [=] { return std::make_unique<Queue>(args...); }};
}

inline std::vector<queue_kind> queue_kinds() {
    std::vector<queue_kind> all{
        kind_of<spool::linked_blocking_queue<spool::task>>("linked"),
        kind_of<spool::array_blocking_queue<spool::task>>("array", std::size_t{100}),
        kind_of<spool::priority_blocking_queue<spool::task>>("priority"),
        kind_of<spool::delay_queue<spool::task>>("delay"),
        kind_of<spool::linked_transfer_queue<spool::task>>("transfer"),
        kind_of<spool::linked_blocking_deque<spool::task>>("deque_fifo"),
        kind_of<spool::linked_blocking_deque<spool::task>>("deque_lifo", std::size_t{100},
                                                           spool::deque_order::lifo),
        kind_of<spool::work_stealing_queue<spool::task>>("work_stealing"),
        kind_of<spool::synchronous_queue<spool::task>>("synchronous_unfair", spool::fairness::unfair),
        kind_of<spool::synchronous_queue<spool::task>>("synchronous_fair", spool::fairness::fair)};
    all[8].stores = all[9].stores = false;
    return all;
}

}  // namespace test
