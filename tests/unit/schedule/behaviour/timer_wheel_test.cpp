// timer_wheel against a simple model: a multimap, which keeps equal keys in the order of insertion.
#include "schedule/timer_wheel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include <spool/spool.hpp>

namespace {

using namespace std::chrono_literals;
using spool::due_time;
using spool::detail::carried_task;
using spool::detail::timer;
using spool::detail::timer_ref;
using spool::detail::timer_wheel;
using std::chrono::nanoseconds;

// A timer that no thread runs. It may lie in a wheel, and is cancelled at the end.
struct cancel_unrun {
    void operator()(timer* t) const {
        t->drop_runner();
        t->drop_handle();
    }
};
using owned_timer = std::unique_ptr<timer, cancel_unrun>;
owned_timer make_timer() {
    auto nothing = [] {};
    return owned_timer{new spool::detail::once_body<void, decltype(nothing)>(nothing)};
}

class timer_wheel_against_model : public testing::TestWithParam<unsigned> {
protected:
    using model_map = std::multimap<due_time, timer_ref>;

    ~timer_wheel_against_model() override {
        static_cast<void>(wheel_.take_out([](timer_ref) { return true; }));
    }

    std::uint64_t roll(std::uint64_t n) { return random_() % n; }
    // From nanoseconds to centuries, each order of magnitude equally likely.
    nanoseconds any_span() { return nanoseconds{static_cast<std::int64_t>(random_() >> (1 + roll(63)))}; }
    due_time any_time() {
        switch (roll(12)) {
            case 0: return due_time::max();
            case 1: return due_time::max() - nanoseconds{static_cast<std::int64_t>(roll(1 << 22))};
            case 2: return now_ - std::min(any_span(), std::min(now_, due_time::max() - 4h) - begin_ + 1h);
            case 3: return due_time::min();
            case 4:
            case 5:
            case 6:
                // An equal time, perhaps inserted at another level.
                return used_before_[roll(used_before_.size())];
            default: return later(now_, any_span());
        }
    }
    static due_time later(due_time t, nanoseconds d) {
        return t > due_time::max() - d ? due_time::max() : t + d;
    }

    void insert() {
        const due_time due = any_time();
        used_before_[roll(used_before_.size())] = due;
        const timer_ref added = roll(2) == 0 ? new_timer(due) : new_carried_task(due);
        wheel_.insert(added);
        model_.emplace(due, added);
    }
    timer_ref new_timer(due_time due) {
        timers_.push_back(make_timer());
        timers_.back()->stamp = due;
        return *timers_.back();
    }
    timer_ref new_carried_task(due_time due) {
        carried_.push_back(std::make_unique<carried_task>());
        carried_.back()->due = due;
        carried_.back()->work = [] {};
        return *carried_.back();
    }
    static spool::task_id id_of(timer_ref t) {
        return t.as_timer() != nullptr ? t.as_timer()->id() : t.as_carried()->work.id();
    }
    void erase() {
        if (!model_.empty()) {
            const auto one = std::next(model_.begin(), static_cast<std::ptrdiff_t>(roll(model_.size())));
            wheel_.erase(one->second);
            model_.erase(one);
        }
    }
    void erase_some() {
        const auto wanted = [](timer_ref t) { return id_of(t) % 3 == 0; };
        std::size_t gone = 0;
        for (timer_ref t = wheel_.take_out(wanted); t; t = t.after()) {
            ASSERT_TRUE(wanted(t));
            ++gone;
        }
        ASSERT_EQ(std::erase_if(model_, [&](const auto& x) { return wanted(x.second); }), gone);
    }
    // Advances the time. Everything that is due must come out, in the order of the model.
    void advance() {
        const bool to_the_first = roll(3) == 0 && !model_.empty();
        now_ = to_the_first ? std::max(now_, model_.begin()->first) : later(now_, any_step());
        wheel_.advance(now_);
        for (timer_ref t; (t = wheel_.first()) && t.due() <= now_;) {
            ASSERT_FALSE(model_.empty());
            ASSERT_EQ(t, model_.begin()->second) << "due " << t.due().time_since_epoch().count();
            wheel_.erase(t);
            model_.erase(model_.begin());
        }
        ASSERT_TRUE(model_.empty() || model_.begin()->first > now_) << "one that is due did not come out";
    }
    // Mostly small steps: a wheel that has jumped over centuries has few timers left to test.
    nanoseconds any_step() { return any_span() / (roll(40) == 0 ? 1 : std::int64_t{1} << 25); }

    void compare() {
        ASSERT_EQ(wheel_.size(), model_.size());
        if (!model_.empty()) {
            ASSERT_LE(wheel_.quiet_until(), model_.begin()->first);
            if (model_.begin()->first > now_) {
                ASSERT_GT(wheel_.quiet_until(), now_) << "its waiter would never sleep";
            }
        }
        if (roll(50) == 0) {
            std::vector<timer_ref> seen;
            wheel_.visit_in_order([&](timer_ref t) { seen.push_back(t); });
            std::vector<timer_ref> expected;
            for (const auto& [due, timer] : model_) {
                expected.push_back(timer);
            }
            ASSERT_EQ(seen, expected);
        }
    }

    void live(int steps) {
        for (int step = 0; step < steps && !HasFatalFailure(); ++step) {
            switch (roll(16)) {
                case 0:
                case 1: advance(); break;
                case 2:
                case 3:
                case 4: erase(); break;
                case 5:
                    if (roll(100) == 0) {
                        erase_some();
                    }
                    break;
                default: insert(); break;
            }
            compare();
        }
    }

    std::mt19937_64 random_{GetParam()};
    // The start of the clock must not matter.
    due_time begin_{GetParam() % 2 == 0 ? nanoseconds{1h} : -nanoseconds{1h}};
    due_time now_ = begin_;
    timer_wheel wheel_{now_};
    model_map model_;
    std::vector<due_time> used_before_ = std::vector<due_time>(64, now_);
    std::vector<std::unique_ptr<carried_task>> carried_;
    std::vector<owned_timer> timers_;
};

TEST_P(timer_wheel_against_model, random_operations_return_every_timer_in_order_and_in_time) {
    live(6000);
}
INSTANTIATE_TEST_SUITE_P(seeds, timer_wheel_against_model, testing::Range(1U, 13U));

// ---- Single cases

class timer_wheel_of : public testing::Test {
protected:
    ~timer_wheel_of() override {
        static_cast<void>(wheel_.take_out([](timer_ref) { return true; }));
    }
    carried_task& add(due_time when) {
        owned_.push_back(std::make_unique<carried_task>());
        owned_.back()->due = when;
        wheel_.insert(*owned_.back());
        return *owned_.back();
    }
    std::vector<carried_task*> all_due_at(due_time now) {
        std::vector<carried_task*> out;
        wheel_.advance(now);
        for (timer_ref t; (t = wheel_.first()) && t.due() <= now;) {
            wheel_.erase(t);
            out.push_back(t.as_carried());
        }
        return out;
    }

    const due_time start_{1h};
    timer_wheel wheel_{start_};
    std::vector<std::unique_ptr<carried_task>> owned_;
};

// Inserted a day, an hour, a second and a microsecond before the due time: each timer goes to
// another level, and all meet.
TEST_F(timer_wheel_of, equals_from_different_levels_come_out_in_the_order_of_insertion) {
    const due_time due = start_ + 24h;
    std::vector<carried_task*> expected;
    for (const nanoseconds before : {nanoseconds{24h}, nanoseconds{1h}, nanoseconds{1s}, 1000ns, 0ns, -5ns}) {
        ASSERT_TRUE(all_due_at(due - std::max(before, 1ns)).empty());
        expected.push_back(&add(due));
    }
    EXPECT_EQ(all_due_at(due), expected);
}

TEST_F(timer_wheel_of, a_due_time_of_never_stays_to_the_last_nanosecond) {
    add(due_time::max());
    EXPECT_TRUE(all_due_at(due_time::max() - 1ns).empty());
    EXPECT_EQ(wheel_.quiet_until(), due_time::max());
    EXPECT_EQ(all_due_at(due_time::max()).size(), 1U);
}

TEST_F(timer_wheel_of, a_single_timer_causes_no_wake_up_before_it_is_due) {
    for (const nanoseconds away : {nanoseconds{1ms}, nanoseconds{3s}, nanoseconds{2h}, nanoseconds{10000h}}) {
        carried_task& lonely = add(start_ + away);
        EXPECT_EQ(wheel_.quiet_until(), start_ + away);
        wheel_.erase(lonely);
    }
}

TEST_F(timer_wheel_of, the_taken_out_are_listed_so_that_equals_keep_their_order) {
    std::vector<carried_task*> soon;
    std::vector<carried_task*> late;
    for (int i = 0; i < 20; ++i) {
        add(start_ + nanoseconds{(i * 7) % 5});
        soon.push_back(&add(start_ + 3ns));
        late.push_back(&add(start_ + 2h));
    }
    std::vector<carried_task*> taken;
    const auto wanted = [&](timer_ref t) {
        return std::count(soon.begin(), soon.end(), t.as_carried()) +
                   std::count(late.begin(), late.end(), t.as_carried()) !=
               0;
    };
    for (timer_ref t = wheel_.take_out(wanted); t; t = t.after()) {
        taken.push_back(t.as_carried());
    }
    std::vector<carried_task*> expected = soon;
    expected.insert(expected.end(), late.begin(), late.end());
    EXPECT_EQ(taken, expected);
    EXPECT_EQ(all_due_at(start_ + 5ns).size(), 20U);
}

}  // namespace
