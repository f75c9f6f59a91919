// event_count: the two-phase wait. event_count_throttle_test.cpp has the throttled wake-ups.
#include "model/event_count_things.hpp"
#include "model/report.hpp"
#include "spool/queue/detail/awake_consumers.hpp"

namespace {

using model::events;
using model::things;

// One waiter, one publisher.
struct one_waiter : things {
    static constexpr unsigned threads = 2;
    void thread(unsigned t) {
        if (t == 1) {
            static_cast<void>(ready.await([this] { return take(); }));
            model::check(data.read() == 7, "what was published is there");
        } else {
            data.write(7);
            add();
            ready.notify_one();
        }
    }
    void end() const { model::check(taken == 1, "it was taken"); }
};

// Two waiters, and two things that are published one after the other.
struct two_waiters : things {
    static constexpr unsigned threads = 3;
    void thread(unsigned t) {
        if (t < 3) {
            static_cast<void>(ready.await([this] { return take(); }));
            return;
        }
        add();
        ready.notify_one();
        add();
        ready.notify_one();
    }
    void end() const { model::check(taken == 2, "both were taken"); }
};
struct two_waiters_all_at_once : things {
    static constexpr unsigned threads = 3;
    void thread(unsigned t) {
        if (t < 3) {
            static_cast<void>(ready.await([this] { return take(); }));
            return;
        }
        count.store(2);
        ready.notify_all();
    }
    void end() const { model::check(taken == 2, "both were taken"); }
};

// Thread 2 can only give up. If it gets the only wake-up, it must pass the wake-up on to thread 1.
struct one_gives_up : things {
    static constexpr unsigned threads = 3;
    model::atomic<bool> enough{false};
    void thread(unsigned t) {
        if (t == 1) {
            static_cast<void>(ready.await([this] { return take(); }));
            ready.notify_all();  // so that thread 2 leaves
        } else if (t == 2) {
            static_cast<void>(ready.await([] { return false; }, {}, [this] { return enough.load(); }));
        } else {
            enough.store(true);
            add();
            ready.notify_one();
        }
    }
    void end() const { model::check(taken == 1, "the one who stayed was woken"); }
};

// Pair (M): the waiter reads and the notifier changes the condition under one mutex.
struct one_waiter_and_a_mutex {
    static constexpr unsigned threads = 2;
    events ready;
    model::mutex guard;
    model::plain<bool> happened{false};

    void thread(unsigned t) {
        if (t == 1) {
            static_cast<void>(ready.await([this] {
                const std::lock_guard lock{guard};
                return happened.read();
            }));
            return;
        }
        {
            const std::lock_guard lock{guard};
            happened.write(true);
        }
        ready.notify_one();
    }
    void end() const {}
};

// The same, but the wake-up itself comes after the unlock.
struct one_waiter_woken_after_the_unlock : one_waiter_and_a_mutex {
    void thread(unsigned t) {
        if (t == 1) {
            one_waiter_and_a_mutex::thread(t);
            return;
        }
        const auto publish = [this] {
            const std::lock_guard lock{guard};
            happened.write(true);
            return ready.notify_all_later();
        };
        const events::late_wake wake = publish();
    }
};

// Pair (B): the notifier executes a light barrier, the waiter a heavy one.
struct one_waiter_and_barriers {
    static constexpr unsigned threads = 2;
    events ready;
    model::atomic<bool> happened{false};

    void thread(unsigned t) {
        if (t == 1) {
            const auto look = [this] { return happened.load(std::memory_order_acquire); };
            const auto never = [] { return false; };
            const auto announced = [] { model::atomics::heavy_barrier(); };  // the waiter's barrier
            static_cast<void>(ready.await(look, {}, never, announced));
            return;
        }
        happened.store(true, std::memory_order_release);
        model::atomics::light_barrier();
        ready.notify_one();
    }
    void end() const {}
};

// The same, but the waiter executes its barrier only if another consumer is awake. The notifier is
// that consumer: it was asleep (`Sleeps`), or awake all the time. `Forgets` plants a notifier that
// was asleep and does not count itself as awake.
template <bool Sleeps, bool Forgets = false>
struct one_waiter_and_an_awake_consumer {
    static constexpr unsigned threads = 2;
    events ready;
    model::atomic<bool> happened{false};
    spool::detail::awake_consumers<model::atomics> awake;

    one_waiter_and_an_awake_consumer() {
        awake.add();
        if (!Sleeps) {
            awake.add();
        }
    }
    void thread(unsigned t) {
        if (t == 1) {
            const auto look = [this] { return happened.load(std::memory_order_acquire); };
            const auto never = [] { return false; };
            bool rests = false;
            const auto announced = [&] {
                if (std::exchange(rests, true) ? awake.has_any() : awake.remove_then_has_any()) {
                    model::atomics::heavy_barrier();  // the barrier that the count decides on
                }
            };
            static_cast<void>(ready.await(look, {}, never, announced));
            return;
        }
        if (Sleeps && !Forgets) {
            awake.add();
        }
        happened.store(true, std::memory_order_release);
        model::atomics::light_barrier();
        ready.notify_one();
    }
    void end() const {}
};

// Planted in the model: the look between W1 and W4 is left out.
struct no_second_look : one_waiter {
    void thread(unsigned t) {
        unsigned looks = 0;
        if (t == 1) {
            static_cast<void>(ready.await([&] { return ++looks != 2 && take(); }));
        } else {
            one_waiter::thread(t);
        }
    }
};

TEST(event_count_model, a_waiter_is_woken_or_sees_it) {
    model::expect_sound<one_waiter>();
}
TEST(event_count_model, two_things_wake_two_waiters) {
    model::expect_sound<two_waiters>(model::preemptions(3));
}
TEST(event_count_model, notify_all_wakes_both) {
    model::expect_sound<two_waiters_all_at_once>(model::preemptions(4));
}
TEST(event_count_model, a_wake_of_one_who_gives_up_goes_to_the_other) {
    model::expect_sound<one_gives_up>(model::preemptions(3));
}
TEST(event_count_model, a_mutex_instead_of_seq_cst_words_will_do) {
    model::expect_sound<one_waiter_and_a_mutex>();
}
TEST(event_count_model, the_wake_may_come_after_the_unlock) {
    model::expect_sound<one_waiter_woken_after_the_unlock>();
}
TEST(event_count_model, the_waiter_can_pay_for_both_barriers) {
    model::expect_sound<one_waiter_and_barriers>();
}
TEST(event_count_model, a_waiter_needs_its_barrier_only_while_another_consumer_is_awake) {
    model::expect_sound<one_waiter_and_an_awake_consumer<true>>();
    model::expect_sound<one_waiter_and_an_awake_consumer<false>>();
}

// ---- Planted faults

constexpr const char* file = "event_count.hpp";
constexpr const char* here = "event_count_test.cpp";
constexpr const char* shared = "event_count_things.hpp";

TEST(event_count_plant, without_the_second_look_the_wake_is_lost) {
    const model::result r = model::explore<no_second_look>();
    model::print(r);
    EXPECT_NE(r.fault.find("lost wake"), std::string::npos) << r.fault;
}
TEST(event_count_plant, a_waiter_that_is_not_counted_is_not_woken) {
    model::expect_found<one_waiter>({model::harm::drop, file, "// W1"}, "lost wake");
}
TEST(event_count_plant, an_announcement_that_is_not_seq_cst_is_too_weak) {
    model::expect_found<one_waiter>({model::harm::soften, file, "// W1"}, "lost wake");
}
TEST(event_count_plant, a_look_for_waiters_that_is_not_seq_cst_is_too_weak) {
    model::expect_found<one_waiter>({model::harm::soften, file, "// N2"}, "lost wake");
}
TEST(event_count_plant, a_publication_that_is_not_seq_cst_is_too_weak) {
    model::expect_found<one_waiter>({model::harm::soften, shared, "// N1"}, "lost wake");
}
TEST(event_count_plant, a_second_look_that_is_not_seq_cst_is_too_weak) {
    model::expect_found<one_waiter>({model::harm::soften, shared, "// W3"}, "lost wake");
}
TEST(event_count_plant, a_waiter_without_its_barrier_loses_the_wake) {
    model::expect_found<one_waiter_and_barriers>(  // planted in the model
        {model::harm::drop, here, "// the waiter's barrier"}, "lost wake");
}
TEST(event_count_plant, a_waiter_that_takes_an_awake_consumer_for_asleep_loses_the_wake) {
    const model::result r = model::explore<one_waiter_and_an_awake_consumer<true, true>>();
    model::print(r);
    EXPECT_NE(r.fault.find("lost wake"), std::string::npos) << r.fault;
    model::expect_found<one_waiter_and_an_awake_consumer<false>>(
        {model::harm::drop, here, "// the barrier that the count decides on"}, "lost wake");
}
TEST(event_count_plant, a_wake_that_does_not_change_the_epoch_is_lost) {
    model::expect_found<one_waiter>({model::harm::drop, file, "// N3"}, "lost wake");
}
TEST(event_count_plant, a_wake_left_out_is_lost) {
    model::expect_found<one_waiter>({model::harm::drop, file, "parking_.unpark_one(epoch_)"}, "lost wake");
}
TEST(event_count_plant, a_late_wake_left_out_is_lost) {
    model::expect_found<one_waiter_woken_after_the_unlock>(
        {model::harm::drop, file, "parking_.unpark_all_later(epoch_)"}, "lost wake");
}

}  // namespace
