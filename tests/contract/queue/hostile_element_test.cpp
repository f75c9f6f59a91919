// Elements whose move, assignment and destruction call the queue that contains them: no queue runs
// user code under its own lock.
#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "contract.hpp"
#include "spool/queue/work_stealing_queue.hpp"

namespace {

using namespace std::chrono_literals;

/// A number that calls a function when it is moved, assigned to or destroyed.
class hostile {
public:
    hostile(int number, const std::function<void()>& act) : act_(&act), number_(number) {}
    hostile(hostile&& other) noexcept : act_(other.act_), number_(std::exchange(other.number_, -1)) {
        (*act_)();
    }
    hostile& operator=(hostile&& other) noexcept {
        act_ = other.act_;
        number_ = std::exchange(other.number_, -1);
        (*act_)();
        return *this;
    }
    ~hostile() { (*act_)(); }
    operator int() const { return number_; }

private:
    const std::function<void()>* act_;
    int number_;
};

struct stealing {
    template <class T>
    using queue = spool::work_stealing_queue<T>;
    static constexpr const char* name = "work_stealing";
    template <class T>
    static queue<T> make() {
        return queue<T>();
    }
};
/// Tests the deque of an attached consumer instead of the inbox.
struct stealing_attached : stealing {
    static constexpr const char* name = "work_stealing_attached";
};

template <class Kind>
class hostile_element : public testing::Test {
protected:
    using queue_type = typename Kind::template queue<hostile>;

    hostile_element() {
        if constexpr (std::same_as<Kind, stealing_attached>) {
            queue_.attach_consumer();
        }
    }
    ~hostile_element() override {
        queue_.clear();
        queue_.detach_consumer();
        EXPECT_GT(calls_, 0);
    }
    hostile make(int n) { return {n, act_}; }
    void fill(int count) {
        for (int i = count; i > 0; --i) {
            queue_.put(make(i));
        }
    }

    std::atomic<int> calls_{0};
    queue_type queue_ = Kind::template make<hostile>();
    const std::function<void()> act_ = [this] {
        ++calls_;
        static_cast<void>(queue_.size());
        queue_.wake_consumers();
        queue_.wake_producers();
    };
};

using kinds = testing::Types<test::linked, test::unbounded_linked, test::array, test::priority, test::delay,
                             test::transfer, test::deque, test::unbounded_deque, stealing, stealing_attached>;
TYPED_TEST_SUITE(hostile_element, kinds, test::kind_names);

TYPED_TEST(hostile_element, may_call_the_queue_while_it_is_added_and_taken) {
    for (int round = 0; round < 3; ++round) {
        this->fill(30);
        for (int i = 0; i < 10; ++i) {
            EXPECT_GT(this->queue_.take(), 0);
            hostile into = this->make(0);
            EXPECT_TRUE(this->queue_.poll_into(into));
            EXPECT_GT(into, 0);
            EXPECT_TRUE(this->queue_.poll_for(1h).has_value());
        }
        EXPECT_FALSE(this->queue_.poll().has_value());
    }
}

TYPED_TEST(hostile_element, may_call_the_queue_while_it_is_taken_out_of_the_middle) {
    const auto is_even = [](const hostile& x) { return x % 2 == 0; };
    this->fill(30);
    EXPECT_EQ(this->queue_.take_if(is_even).size(), 15U);
    EXPECT_EQ(this->queue_.remove_if([](const hostile& x) { return x < 10; }), 5U);
    std::deque<hostile> rest;
    EXPECT_EQ(this->queue_.drain_to(rest, 3), 3U);
    this->queue_.clear();
    EXPECT_EQ(this->queue_.size(), 0U);
}

TYPED_TEST(hostile_element, may_call_the_queue_while_it_is_handed_to_a_consumer_that_waits) {
    std::jthread consumer{[this] {
        for (int i = 1; i <= 100; ++i) {
            EXPECT_EQ(this->queue_.take(), i);
        }
    }};
    for (int i = 1; i <= 100; ++i) {
        this->queue_.put(this->make(i));
        if (i % 8 == 0) {
            EXPECT_TRUE(test::eventually([this] { return this->queue_.empty(); }));
        }
    }
}

template <class Kind>
class hostile_element_in_a_bounded_queue : public hostile_element<Kind> {};
TYPED_TEST_SUITE(hostile_element_in_a_bounded_queue, test::bounded_kinds, test::kind_names);

TYPED_TEST(hostile_element_in_a_bounded_queue, stays_with_its_owner_if_the_queue_is_full) {
    this->fill(test::size);
    hostile x = this->make(7);
    EXPECT_FALSE(this->queue_.offer(std::move(x)));
    EXPECT_EQ(x, 7);
    EXPECT_FALSE(this->queue_.offer_for(std::move(x), 1us, std::stop_token{}));
    EXPECT_EQ(x, 7);
}

template <class Kind>
class hostile_element_in_a_hand_off : public hostile_element<Kind> {};
using hand_offs = testing::Types<test::unfair_hand_off, test::fair_hand_off>;
TYPED_TEST_SUITE(hostile_element_in_a_hand_off, hand_offs, test::kind_names);

TYPED_TEST(hostile_element_in_a_hand_off, may_call_the_queue_while_it_is_handed_over) {
    std::jthread consumer{[this] {
        for (int i = 1; i <= 50; ++i) {
            EXPECT_EQ(this->queue_.take(), i);
        }
        for (int i = 51; i <= 100; ++i) {
            std::optional<hostile> x;
            EXPECT_TRUE(test::eventually([&] {
                x = this->queue_.poll();
                return x.has_value();
            }));
            EXPECT_EQ(x.value(), i);
        }
    }};
    for (int i = 1; i <= 100; ++i) {
        this->queue_.put(this->make(i));
    }
}

TYPED_TEST(hostile_element_in_a_hand_off, stays_with_its_owner_if_no_taker_waits) {
    hostile x = this->make(7);
    EXPECT_FALSE(this->queue_.offer(std::move(x)));
    EXPECT_FALSE(this->queue_.offer_for(std::move(x), 1us, std::stop_token{}));
    EXPECT_EQ(x, 7);
}

using hostile_element_in_a_transfer = hostile_element<test::transfer>;

TEST_F(hostile_element_in_a_transfer, may_call_the_queue_while_it_is_handed_over) {
    hostile x = make(7);
    EXPECT_FALSE(queue_.try_transfer(std::move(x)));
    EXPECT_FALSE(queue_.try_transfer_for(std::move(x), 1us, std::stop_token{}));
    EXPECT_EQ(x, 7);
    std::jthread consumer{[this] {
        for (int i = 1; i <= 100; ++i) {
            EXPECT_EQ(queue_.take(), i);
        }
    }};
    for (int i = 1; i <= 100; ++i) {
        queue_.transfer(make(i));
    }
}

using hostile_element_in_a_deque = hostile_element<test::unbounded_deque>;

TEST_F(hostile_element_in_a_deque, may_call_the_queue_while_one_is_removed_from_either_end) {
    fill(10);
    EXPECT_TRUE(queue_.remove_first_if([](const hostile& x) { return x == 5; }));
    EXPECT_TRUE(queue_.remove_last_if([](const hostile& x) { return x == 6; }));
    queue_.put_first(make(11));
    EXPECT_EQ(queue_.take_first(), 11);
    EXPECT_EQ(queue_.take_last(), 1);
}

}  // namespace
