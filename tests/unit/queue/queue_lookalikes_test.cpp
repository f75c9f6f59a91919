// Elements whose members only look like those of a task.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "spool/queue/array_blocking_queue.hpp"
#include "spool/queue/linked_blocking_queue.hpp"
#include "spool/queue/work_stealing_queue.hpp"
#include "support/tracked.hpp"

namespace {

// A moved-from parcel still holds something, because a `tracked` is copied.
struct parcel {
    [[maybe_unused]] static constexpr bool is_empty_after_move = true;
    [[nodiscard]] bool moves_as_bytes() const { return false; }
    [[nodiscard]] bool empty() const { return false; }

    test::tracked counted;
};
static_assert(std::is_nothrow_move_constructible_v<parcel>);

template <class Queue>
class queue_lookalikes : public testing::Test {};
using kinds = testing::Types<spool::linked_blocking_queue<parcel>, spool::array_blocking_queue<parcel>,
                             spool::work_stealing_queue<parcel>>;
TYPED_TEST_SUITE(queue_lookalikes, kinds);

TYPED_TEST(queue_lookalikes, moved_from_element_is_destroyed) {
    std::atomic<int> alive{0};
    {
        auto queue = [] {
            if constexpr (std::is_constructible_v<TypeParam, int>) {
                return std::make_unique<TypeParam>(4);
            } else {
                return std::make_unique<TypeParam>();
            }
        }();
        for (int i = 0; i < 3; ++i) {
            queue->put(parcel{test::tracked{alive}});
        }
        EXPECT_EQ(alive, 3);
        EXPECT_TRUE(queue->poll().has_value());
        EXPECT_EQ(alive, 2);
    }
    EXPECT_EQ(alive, 0);
}

}  // namespace
