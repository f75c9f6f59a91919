// Every queue kind that a mutex guards, with one to four producers and one to four consumers, while
// other threads remove, look, wake and request stops. Each element leaves the queue exactly once,
// and none leaks. SPOOL_ROUNDS sets the number of rounds.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "race/sync/in_time.hpp"
#include "race/sync/seed.hpp"
#include "spool/queue/delay_queue.hpp"
#include "spool/queue/linked_blocking_deque.hpp"
#include "spool/queue/linked_transfer_queue.hpp"
#include "spool/queue/priority_blocking_queue.hpp"
#include "spool/queue/synchronous_queue.hpp"

namespace {

using namespace std::chrono_literals;
using test::dice;

std::size_t rounds() {
    const char* text = std::getenv("SPOOL_ROUNDS");
    return text != nullptr ? std::strtoul(text, nullptr, 10) : 40;
}

// Counted while it is alive, wherever it is.
class element {
public:
    element(std::size_t id, spool::due_time when, std::atomic<int>& alive)
        : id_(id), when_(when), alive_(&alive) {
        ++*alive_;
    }
    element(element&& other) noexcept
        : id_(other.id_), when_(other.when_), alive_(std::exchange(other.alive_, nullptr)) {}
    element& operator=(element&& other) noexcept {
        element old{std::move(*this)};
        id_ = other.id_;
        when_ = other.when_;
        alive_ = std::exchange(other.alive_, nullptr);
        return *this;
    }
    ~element() {
        if (alive_ != nullptr) {
            --*alive_;
        }
    }
    [[nodiscard]] bool is_here() const { return alive_ != nullptr; }
    [[nodiscard]] std::size_t id() const { return id_; }
    [[nodiscard]] spool::due_time due() const { return when_; }
    bool operator<(const element& other) const { return id_ % 16 < other.id_ % 16; }

private:
    std::size_t id_;
    spool::due_time when_;
    std::atomic<int>* alive_;
};

// The stop source of one thread. Other threads may request the stop at any time; token() then
// renews the source.
class stoppable {
public:
    [[nodiscard]] std::stop_token token() {
        const std::lock_guard lock{mutex_};
        if (source_.stop_requested()) {
            source_ = std::stop_source{};
        }
        return source_.get_token();
    }
    void request_stop() {
        std::stop_source copy{std::nostopstate};
        {
            const std::lock_guard lock{mutex_};
            copy = source_;
        }
        copy.request_stop();
    }

private:
    std::mutex mutex_;
    std::stop_source source_;
};

// ---- The kinds, and how each adds and takes. add() moves from `x` exactly if it returns true.

struct plain_kind {
    template <class Queue>
    static bool add(Queue& queue, element& x, dice& d, const std::stop_token& stop) {
        switch (d.roll(3)) {
            case 0: return queue.offer(std::move(x));
            case 1: return queue.offer_for(std::move(x), std::chrono::microseconds{d.roll(50)}, stop);
            default: queue.put(std::move(x), stop); return true;
        }
    }
    template <class Queue>
    static std::optional<element> take(Queue& queue, dice& d, const std::stop_token& stop) {
        switch (d.roll(3)) {
            case 0: return queue.poll();
            case 1: return queue.poll_for(std::chrono::microseconds{d.roll(50)}, stop);
            default: return queue.take(stop);
        }
    }
    // Waits at most for the long delay. False: a wake-up was lost.
    template <class Queue>
    static bool add_in_time(Queue& queue, element& x, dice&) {
        return queue.offer_for(std::move(x), test::long_delay());
    }
    template <class Queue>
    static std::optional<element> take_in_time(Queue& queue, dice&) {
        return queue.poll_for(test::long_delay());
    }
    template <class Queue>
    static void disturb(Queue&, dice&) {}
};
template <spool::fairness Fairness>
struct synchronous_kind : plain_kind {
    using queue = spool::synchronous_queue<element>;
    static std::unique_ptr<queue> make(dice&) { return std::make_unique<queue>(Fairness); }
};
struct priority_kind : plain_kind {
    using queue = spool::priority_blocking_queue<element>;
    static std::unique_ptr<queue> make(dice&) { return std::make_unique<queue>(); }
};
struct delay_kind : plain_kind {
    using queue = spool::delay_queue<element>;
    static std::unique_ptr<queue> make(dice&) { return std::make_unique<queue>(); }
};
struct transfer_kind : plain_kind {
    using queue = spool::linked_transfer_queue<element>;
    static std::unique_ptr<queue> make(dice&) { return std::make_unique<queue>(); }
    static bool add(queue& q, element& x, dice& d, const std::stop_token& stop) {
        switch (d.roll(4)) {
            case 0: return q.try_transfer(std::move(x));
            case 1: return q.try_transfer_for(std::move(x), std::chrono::microseconds{d.roll(50)}, stop);
            case 2: q.transfer(std::move(x), stop); return true;
            default: return plain_kind::add(q, x, d, stop);
        }
    }
    static bool add_in_time(queue& q, element& x, dice& d) {
        return d.roll(2) == 0 ? q.offer(std::move(x)) : q.try_transfer_for(std::move(x), test::long_delay());
    }
};
struct deque_kind : plain_kind {
    using queue = spool::linked_blocking_deque<element>;
    static std::unique_ptr<queue> make(dice& d) {
        const auto order = d.roll(2) == 0 ? spool::deque_order::fifo : spool::deque_order::lifo;
        return std::make_unique<queue>(1 + d.roll(8), order);
    }
    static bool add(queue& q, element& x, dice& d, const std::stop_token& stop) {
        switch (d.roll(4)) {
            case 0: return q.offer_first(std::move(x));
            case 1: return q.offer_first_for(std::move(x), std::chrono::microseconds{d.roll(50)}, stop);
            case 2: q.put_last(std::move(x), stop); return true;
            default: return plain_kind::add(q, x, d, stop);
        }
    }
    static std::optional<element> take(queue& q, dice& d, const std::stop_token& stop) {
        switch (d.roll(4)) {
            case 0: return q.poll_last();
            case 1: return q.poll_first_for(std::chrono::microseconds{d.roll(50)}, stop);
            case 2: return q.take_last(stop);
            default: return plain_kind::take(q, d, stop);
        }
    }
    static bool add_in_time(queue& q, element& x, dice& d) {
        return d.roll(2) == 0 ? q.offer_first_for(std::move(x), test::long_delay())
                              : q.offer_for(std::move(x), test::long_delay());
    }
    static std::optional<element> take_in_time(queue& q, dice& d) {
        return d.roll(2) == 0 ? q.poll_first_for(test::long_delay()) : q.poll_last_for(test::long_delay());
    }
    static void disturb(queue& q, dice& d) { q.set_capacity(1 + d.roll(8)); }
};

// ---- One round

template <class Kind>
class round_of {
public:
    static constexpr std::size_t per_producer = 60;

    round_of(std::uint32_t seed, std::uint32_t number)
        : seed_(seed ^ number * 7919), queue_(Kind::make(dice_)) {}

    // Consumers wait for the long delay, and only an element wakes them: a lost wake-up is a
    // time-out.
    void without_disturbance() {
        std::vector<std::jthread> threads;
        for (std::size_t c = 0; c < consumers_; ++c) {
            threads.emplace_back([this, c] {
                dice mine{seed_, static_cast<std::uint32_t>(100 + c)};
                const std::size_t share = total_ / consumers_ + (c < total_ % consumers_ ? 1 : 0);
                for (std::size_t i = 0; i < share; ++i) {
                    const auto x = test::in_time([&] { return Kind::take_in_time(*queue_, mine); });
                    if (!x.has_value()) {
                        ++lost_wakes_;
                        return;
                    }
                    settle(*x);
                }
            });
        }
        for (std::size_t p = 0; p < producers_; ++p) {
            threads.emplace_back([this, p] {
                dice mine{seed_, static_cast<std::uint32_t>(200 + p)};
                for (std::size_t i = 0; i < per_producer; ++i) {
                    element x = make(p * per_producer + i, mine);
                    const bool added = test::in_time([&] { return Kind::add_in_time(*queue_, x, mine); });
                    lost_wakes_ += added ? 0 : 1;
                }
            });
        }
        threads.clear();  // joins
        EXPECT_EQ(lost_wakes_, 0);
        expect_one_fate_each();
    }

    void with_everything_at_once() {
        std::vector<stoppable> stops(producers_ + consumers_);
        std::vector<std::jthread> threads;
        for (std::size_t p = 0; p < producers_; ++p) {
            threads.emplace_back([this, p, &stop = stops[p]] { produce(p, stop); });
        }
        for (std::size_t c = 0; c < consumers_; ++c) {
            threads.emplace_back([this, c, &stop = stops[producers_ + c]] { consume(c, stop); });
        }
        threads.emplace_back([this] { remove_and_look(); });
        const spool::deadline limit = test::time_limit();
        while (settled_ < total_ && !limit.expired()) {
            stops[dice_.roll(static_cast<std::uint32_t>(stops.size()))].request_stop();
            Kind::disturb(*queue_, dice_);
            std::this_thread::yield();
        }
        EXPECT_EQ(settled_, total_) << "elements were lost, or somebody sleeps";
        ended_ = true;
        while (running_ > 0) {
            for (stoppable& stop : stops) {
                stop.request_stop();
            }
            std::this_thread::yield();
        }
        threads.clear();  // joins
        expect_one_fate_each();
    }

private:
    struct running_thread {
        explicit running_thread(std::atomic<std::size_t>& n) : running(n) {}
        ~running_thread() { --running; }
        std::atomic<std::size_t>& running;
    };

    element make(std::size_t id, dice& d) {
        const auto delay = std::chrono::microseconds{d.roll(4) == 0 ? d.roll(300) : 0};
        return {id, std::chrono::steady_clock::now() + delay, alive_};
    }
    void settle(const element& x) {
        wrong_ += x.is_here() ? 0 : 1;
        ++fates_.at(x.id());
        ++settled_;
    }
    void produce(std::size_t p, stoppable& stop) {
        const running_thread me{running_};
        dice mine{seed_, static_cast<std::uint32_t>(200 + p)};
        for (std::size_t i = 0; i < per_producer && !ended_; ++i) {
            element x = make(p * per_producer + i, mine);
            bool added = false;
            while (!added && !ended_) {
                try {
                    added = Kind::add(*queue_, x, mine, stop.token());
                } catch (const spool::interrupted&) {}
                wrong_ += x.is_here() == added ? 1 : 0;
            }
        }
    }
    void consume(std::size_t c, stoppable& stop) {
        const running_thread me{running_};
        dice mine{seed_, static_cast<std::uint32_t>(100 + c)};
        while (!ended_) {
            try {
                if (const auto x = Kind::take(*queue_, mine, stop.token())) {
                    settle(*x);
                }
            } catch (const spool::interrupted&) {}
        }
    }
    void remove_and_look() {
        const running_thread me{running_};
        dice mine{seed_, 300};
        while (!ended_) {
            const std::size_t digit = mine.roll(16);
            const auto matches = [digit](const element& x) { return x.id() % 16 == digit; };
            std::vector<element> out;
            switch (mine.roll(5)) {
                case 0:
                    queue_->remove_if([&](const element& x) {
                        const bool doomed = matches(x);
                        if (doomed) {
                            settle(x);
                        }
                        return doomed;
                    });
                    break;
                case 1: out = queue_->take_if(matches); break;
                case 2: queue_->drain_to(out, 2); break;
                case 3: static_cast<void>(queue_->contains(matches)); break;
                default: queue_->wake_consumers();
            }
            for (const element& x : out) {
                settle(x);
            }
            wrong_ += queue_->size() > total_ ? 1 : 0;
            std::this_thread::yield();
        }
    }
    void expect_one_fate_each() {
        EXPECT_EQ(wrong_, 0) << "an element was not where the answer said";
        EXPECT_EQ(std::count(fates_.begin(), fates_.end(), 1), static_cast<std::ptrdiff_t>(total_));
        queue_.reset();
        EXPECT_EQ(alive_, 0) << "destroyed too often or too seldom";
    }

    const std::uint32_t seed_;
    dice dice_{seed_, 0};
    const std::size_t producers_ = 1 + dice_.roll(4);
    const std::size_t consumers_ = 1 + dice_.roll(4);
    const std::size_t total_ = producers_ * per_producer;
    std::atomic<int> alive_{0};
    std::unique_ptr<typename Kind::queue> queue_;
    std::vector<std::atomic<int>> fates_ = std::vector<std::atomic<int>>(total_);
    std::atomic<std::size_t> settled_{0};
    std::atomic<std::size_t> running_{producers_ + consumers_ + 1};
    std::atomic<bool> ended_{false};
    std::atomic<int> wrong_{0};
    std::atomic<int> lost_wakes_{0};
};

template <class Kind>
class guarded_kind_race : public testing::Test {};
using kinds =
    testing::Types<synchronous_kind<spool::fairness::unfair>, synchronous_kind<spool::fairness::fair>,
                   priority_kind, delay_kind, transfer_kind, deque_kind>;
TYPED_TEST_SUITE(guarded_kind_race, kinds);

TYPED_TEST(guarded_kind_race, no_wake_is_lost_between_producers_and_consumers) {
    const std::uint32_t seed = test::new_seed();
    for (std::uint32_t i = 0; i < rounds() && !this->HasFailure(); ++i) {
        round_of<TypeParam>{seed, i}.without_disturbance();
    }
}

TYPED_TEST(guarded_kind_race, each_element_has_exactly_one_fate_under_concurrent_calls) {
    const std::uint32_t seed = test::new_seed();
    for (std::uint32_t i = 0; i < rounds() && !this->HasFailure(); ++i) {
        round_of<TypeParam>{seed, i}.with_everything_at_once();
    }
}

}  // namespace
