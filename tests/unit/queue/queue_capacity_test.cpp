// The capacity of a queue, through the interface that all kinds share.
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "spool/pool/thread_pool_executor.hpp"
#include "spool/queue/array_blocking_queue.hpp"
#include "spool/queue/delay_queue.hpp"
#include "spool/queue/linked_blocking_deque.hpp"
#include "spool/queue/linked_blocking_queue.hpp"
#include "spool/queue/linked_transfer_queue.hpp"
#include "spool/queue/priority_blocking_queue.hpp"
#include "spool/queue/synchronous_queue.hpp"
#include "spool/queue/work_stealing_queue.hpp"
#include "support/throws.hpp"

namespace {

using spool::task;

template <class Queue, class... Arguments>
std::string refusal_of(Arguments... arguments) {
    Queue queue{arguments...};
    spool::blocking_queue<task>& any = queue;
    const std::size_t before = any.capacity();
    std::string text = test::what_of<std::logic_error>([&] { any.set_capacity(10); });
    EXPECT_EQ(any.capacity(), before);
    return text;
}

TEST(queue_capacity, of_a_linked_kind_changes_through_the_common_interface) {
    spool::linked_blocking_queue<task> linked{5};
    spool::linked_blocking_deque<task> deque{5};
    for (spool::blocking_queue<task>* const any : {static_cast<spool::blocking_queue<task>*>(&linked),
                                                   static_cast<spool::blocking_queue<task>*>(&deque)}) {
        any->set_capacity(7);
        EXPECT_EQ(any->capacity(), 7U);
        EXPECT_THROW(any->set_capacity(0), std::invalid_argument);
        EXPECT_EQ(any->capacity(), 7U);
    }
}

TEST(queue_capacity, of_a_pools_queue_changes_through_the_pool) {
    spool::thread_pool_executor pool(
        {.core_size = 1, .queue = std::make_unique<spool::linked_blocking_queue<task>>(5)});
    pool.queue().set_capacity(50);
    EXPECT_EQ(pool.queue().capacity(), 50U);
}

TEST(queue_capacity, of_a_fixed_kind_is_refused_by_its_name) {
    EXPECT_EQ(
        refusal_of<spool::array_blocking_queue<task>>(5U),
        "spool::array_blocking_queue<spool::task>::set_capacity: the capacity of this kind is fixed (5)");
    EXPECT_EQ(refusal_of<spool::synchronous_queue<task>>(),
              "spool::synchronous_queue<spool::task>::set_capacity: the capacity of this kind is fixed (0)");
    EXPECT_EQ(refusal_of<spool::work_stealing_queue<task>>(),
              "spool::work_stealing_queue<spool::task>::set_capacity: the capacity of this kind is fixed "
              "(unlimited)");
    EXPECT_NE(refusal_of<spool::priority_blocking_queue<task>>().find("priority_blocking_queue"),
              std::string::npos);
    EXPECT_NE(refusal_of<spool::delay_queue<task>>().find("delay_queue"), std::string::npos);
    EXPECT_NE(refusal_of<spool::linked_transfer_queue<task>>().find("linked_transfer_queue"),
              std::string::npos);
}

}  // namespace
