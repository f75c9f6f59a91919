// event_count: the two-phase wait, and the throttled wakes.
#include "model/explorer/atomics.hpp"
#include "model/report.hpp"
#include "spool/sync/event_count.hpp"

namespace {

using events = spool::basic_event_count<model::parking>;
using spool::wait_result;

// Things to be taken, counted in a seq_cst word (pair (S)); each hands over a piece of plain data.
struct things {
    events ready;
    model::atomic<unsigned> count{0};
    model::plain<int> data{0};
    unsigned taken = 0;  // no part of the protocol

    void add() {
        count.fetch_add(1);  // N1
    }
    // One, if there is one.
    bool take() {
        unsigned now = count.load();  // W3
        while (now != 0) {
            if (count.compare_exchange_weak(now, now - 1)) {
                ++taken;
                return true;
            }
        }
        return false;
    }
};

// One who waits, one who publishes.
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

// Two who wait, and two things that come one after the other.
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

// The second only ever gives up. If the one wake comes to it, it goes to the first.
struct one_gives_up : things {
    static constexpr unsigned threads = 3;
    model::atomic<bool> enough{false};
    void thread(unsigned t) {
        if (t == 1) {
            static_cast<void>(ready.await([this] { return take(); }));
            ready.notify_all();  // so that the second leaves
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

// Two consumers, of whom each who was woken wakes the next if there is more; two things, each with a throttled wake.
struct throttled : things {
    static constexpr unsigned threads = 3;
    void consume() {
        static_cast<void>(ready.await([this] { return take(); }));
        if (count.load() != 0) {  // there is more
            ready.notify_throttled();
        }
    }
    void thread(unsigned t) {
        if (t < 3) {
            consume();
            return;
        }
        add();
        ready.notify_throttled();
        add();
        ready.notify_throttled();
    }
    void end() const { model::check(taken == 2, "both were taken"); }
};
// The same; who finds nothing looks again for a while before it goes to sleep.
struct throttled_and_spinning : throttled {
    void thread(unsigned t) {
        if (t == 3) {
            throttled::thread(t);
            return;
        }
        static_cast<void>(ready.await([this] { return take(); }, {.spin = std::chrono::nanoseconds{1}}));
        if (count.load() != 0) {
            ready.notify_throttled();
        }
    }
};
// As long as it lives, whoever spins seems to have lost its CPU. Around a model, not in one: the last of those is never destroyed.
struct all_are_stuck {
    all_are_stuck() { model::parking::moment::all_are_long_ago = true; }
    all_are_stuck(const all_are_stuck&) = delete;
    all_are_stuck& operator=(const all_are_stuck&) = delete;
    ~all_are_stuck() { model::parking::moment::all_are_long_ago = false; }
};
// Two producers and one consumer that takes both.
struct throttled_producers : things {
    static constexpr unsigned threads = 3;
    void thread(unsigned t) {
        if (t == 3) {
            static_cast<void>(ready.await([this] { return take(); }));
            static_cast<void>(ready.await([this] { return take(); }));
            return;
        }
        add();
        ready.notify_throttled();
    }
    void end() const { model::check(taken == 2, "both were taken"); }
};
// The one who was woken does not see to it that the next is.
struct throttled_and_forgetful : throttled {
    void thread(unsigned t) {
        if (t < 3) {
            static_cast<void>(ready.await([this] { return take(); }));
        } else {
            throttled::thread(t);
        }
    }
};

// Pair (M): the condition is looked at and changed under one mutex.
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

// The same, and the wake itself comes after the unlock.
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

// Pair (B): a light barrier of the notifier, a heavy one of the waiter.
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

// Pair (B) with throttled wakes: one consumer spins, the other sleeps at once; two things, each in a place of its own.
struct throttled_and_barriers {
    static constexpr unsigned threads = 3;
    events ready;
    model::atomic<bool> place[2]{false, false};
    unsigned taken = 0;  // no part of the protocol

    void add(unsigned i) {
        place[i].store(true, std::memory_order_release);
        model::atomics::light_barrier();
        ready.order_light();
        ready.notify_throttled();
    }
    bool holds(unsigned i) { return place[i].load(std::memory_order_acquire); }
    bool take() {
        for (unsigned i : {0U, 1U}) {
            if (holds(i) && place[i].exchange(false)) {
                ++taken;
                return true;
            }
        }
        return false;
    }
    void consume(std::chrono::nanoseconds spin) {
        const auto never = [] { return false; };
        const auto announced = [] { model::atomics::heavy_barrier(); };
        static_cast<void>(ready.await([this] { return take(); }, {.spin = spin}, never, announced));
        if (holds(0) || holds(1)) {
            ready.order_light();
            ready.notify_throttled();
        }
    }
    void thread(unsigned t) {
        switch (t) {
            case 1: consume(std::chrono::nanoseconds{1}); return;
            case 2: consume(std::chrono::nanoseconds{0}); return;
            default: add(0); add(1);
        }
    }
    void end() const { model::check(taken == 2, "both were taken"); }
};

// The look between W1 and W4 is left out.
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
TEST(event_count_model, throttled_wakes_reach_two_consumers) {
    model::expect_sound<throttled>(model::preemptions(3));
}
TEST(event_count_model, throttled_wakes_reach_consumers_that_spin) {
    model::expect_sound<throttled_and_spinning>(model::preemptions(3));
}
TEST(event_count_model, throttled_wakes_do_not_rely_on_one_that_is_stuck) {
    const all_are_stuck meanwhile;
    model::expect_sound<throttled_and_spinning>(model::preemptions(3));
}
TEST(event_count_model, throttled_wakes_after_light_barriers_reach_two_consumers) {
    model::expect_sound<throttled_and_barriers>(model::preemptions(3));
}
TEST(event_count_model, throttled_wakes_after_light_barriers_do_not_rely_on_one_that_is_stuck) {
    const all_are_stuck meanwhile;
    model::expect_sound<throttled_and_barriers>(model::preemptions(3));
}
TEST(event_count_model, throttled_wakes_of_two_producers_reach_the_consumer) {
    model::expect_sound<throttled_producers>(model::preemptions(4));
}

// ---- Planted faults

constexpr const char* file = "event_count.hpp";
constexpr const char* here = "event_count_test.cpp";

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
    model::expect_found<one_waiter>({model::harm::soften, here, "// N1"}, "lost wake");
}
TEST(event_count_plant, a_second_look_that_is_not_seq_cst_is_too_weak) {
    model::expect_found<one_waiter>({model::harm::soften, here, "// W3"}, "lost wake");
}
TEST(event_count_plant, a_waiter_without_its_barrier_loses_the_wake) {
    model::expect_found<one_waiter_and_barriers>({model::harm::drop, here, "// the waiter's barrier"},
                                                 "lost wake");
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
TEST(event_count_plant, a_throttle_that_is_never_taken_off_loses_a_wake) {
    model::expect_found<throttled>({model::harm::drop, file, "// W2'"}, "lost wake", model::preemptions(4));
}
TEST(event_count_plant, spinning_that_does_not_end_as_a_wake_does_loses_a_wake) {
    model::expect_found<throttled_and_spinning>({model::harm::drop, file, "events.coming_.exchange(nobody)"},
                                                "lost wake", model::preemptions(3));
}
TEST(event_count_plant, a_light_publication_that_nothing_orders_loses_a_wake) {
    model::expect_found<throttled_and_barriers>({model::harm::drop, file, "// T0"}, "lost wake",
                                                model::preemptions(3));
}
TEST(event_count_plant, a_look_for_one_who_is_coming_that_is_not_seq_cst_is_too_weak) {
    model::expect_found<throttled>({model::harm::soften, file, ", throttled"}, "lost wake",
                                   model::preemptions(3));
}
TEST(event_count_plant, a_consumer_that_does_not_wake_the_next_loses_a_wake) {
    const model::result r = model::explore<throttled_and_forgetful>(model::preemptions(4));
    model::print(r);
    EXPECT_NE(r.fault.find("lost wake"), std::string::npos) << r.fault;
}

}  // namespace
