// event_count: the throttled wake-ups.
#include "model/event_count_things.hpp"
#include "model/report.hpp"

namespace {

using model::events;
using model::things;

// Two things, each published with a throttled wake-up, and two consumers. A consumer that took one
// wakes the next consumer if there is more.
struct throttled : things {
    static constexpr unsigned threads = 3;
    void consume() {
        static_cast<void>(ready.await([this] { return take(); }));
        if (count.load() != 0) {  // there is more
            ready.notify_unless_wake_pending();
        }
    }
    void thread(unsigned t) {
        if (t < 3) {
            consume();
            return;
        }
        add();
        ready.notify_unless_wake_pending();
        add();
        ready.notify_unless_wake_pending();
    }
    void end() const { model::check(taken == 2, "both were taken"); }
};
// The same, but a consumer that finds nothing spins for a while before it parks.
struct throttled_and_spinning : throttled {
    void thread(unsigned t) {
        if (t == 3) {
            throttled::thread(t);
            return;
        }
        static_cast<void>(ready.await([this] { return take(); }, {.spin = std::chrono::nanoseconds{1}}));
        if (count.load() != 0) {
            ready.notify_unless_wake_pending();
        }
    }
};
// While an object of it lives, every waiter that spins or was woken seems to have no CPU. Must
// enclose the exploration, not be part of a model: an abandoned execution never destroys its model.
struct all_are_stuck {
    all_are_stuck() { set(true); }
    all_are_stuck(const all_are_stuck&) = delete;
    all_are_stuck& operator=(const all_are_stuck&) = delete;
    ~all_are_stuck() { set(false); }
    static void set(bool stuck) {
        model::parking::moment::all_are_long_ago = stuck;
        model::parking::wake_moment::all_are_long_ago = stuck;
    }
};

// A thread that parks with a deadline gets no CPU after its wake-up until `*has_cpu` is set.
struct parking_without_a_cpu : model::parking {
    static inline const word* has_cpu = nullptr;  // set by the model
    void park(const word& w, std::uint32_t expected, const spool::deadline& until) {
        model::parking::park(w, expected, until);
        while (!until.is_never() && has_cpu->load() == 0) {
            model::parking::park(*has_cpu, 0, until);
        }
    }
};
// Two things and two consumers. The first consumer gets no CPU after its wake-up until both things
// are taken. The last notify publishes nothing: it stands for any later notifier.
struct woken_one_gets_no_cpu {
    static constexpr unsigned threads = 3;
    spool::basic_event_count<parking_without_a_cpu> ready;
    model::atomic<unsigned> count{0};
    model::atomic<unsigned> taken{0};
    parking_without_a_cpu::word has_cpu{0};

    woken_one_gets_no_cpu() { parking_without_a_cpu::has_cpu = &has_cpu; }
    bool take() {
        unsigned now = count.load();
        while (now != 0) {
            if (count.compare_exchange_weak(now, now - 1)) {
                taken.fetch_add(1);
                return true;
            }
        }
        return false;
    }
    bool all_taken() { return taken.load() == 2; }
    void consume(spool::deadline until) {
        static_cast<void>(ready.await([this] { return take() || all_taken(); }, {.until = until}));
        if (all_taken()) {
            has_cpu.store(1);
            parking_without_a_cpu{}.unpark_all(has_cpu);
            ready.notify_all();
        } else if (count.load() != 0) {
            ready.notify_unless_wake_pending();
        }
    }
    void thread(unsigned t) {
        if (t == 1) {
            consume(spool::deadline::after(std::chrono::hours{1}));
        } else if (t == 2) {
            while (!all_taken()) {
                consume(spool::deadline::never());
            }
        } else {
            for (int i = 0; i < 2; ++i) {
                count.fetch_add(1);
                ready.notify_unless_wake_pending();
            }
            ready.notify_unless_wake_pending();
        }
    }
    void end() { model::check(all_taken(), "both were taken"); }
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
        ready.notify_unless_wake_pending();
    }
    void end() const { model::check(taken == 2, "both were taken"); }
};
// Planted in the model: a woken consumer does not wake the next one.
struct throttled_and_forgetful : throttled {
    void thread(unsigned t) {
        if (t < 3) {
            static_cast<void>(ready.await([this] { return take(); }));
        } else {
            throttled::thread(t);
        }
    }
};

// Pair (B) with throttled wake-ups: one consumer spins, the other parks at once. There are two
// things, each in its own place.
struct throttled_and_barriers {
    static constexpr unsigned threads = 3;
    events ready;
    model::atomic<bool> place[2]{false, false};
    unsigned taken = 0;  // not part of the protocol

    void add(unsigned i) {
        place[i].store(true, std::memory_order_release);
        model::atomics::light_barrier();
        ready.publish_before_notify();
        ready.notify_unless_wake_pending();
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
            ready.publish_before_notify();
            ready.notify_unless_wake_pending();
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
TEST(event_count_model, throttled_wakes_of_the_stuck_lose_no_wake) {
    const all_are_stuck meanwhile;
    model::expect_sound<throttled>(model::preemptions(3));
    model::expect_sound<throttled_producers>(model::preemptions(3));
}
TEST(event_count_model, throttled_wakes_do_not_rely_on_a_woken_one_that_gets_no_cpu) {
    const all_are_stuck meanwhile;
    model::expect_sound<woken_one_gets_no_cpu>(model::preemptions(3));
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

TEST(event_count_plant, a_throttle_that_is_never_taken_off_loses_a_wake) {
    model::expect_found<throttled>({model::harm::drop, file, "// W2'"},  // wake_pending_ stays set
                                   "lost wake", model::preemptions(4));
}
TEST(event_count_plant, spinning_that_does_not_end_as_a_wake_does_loses_a_wake) {
    model::expect_found<throttled_and_spinning>(
        {model::harm::drop, file, "events.wake_pending_.exchange(nobody)"}, "lost wake",
        model::preemptions(3));
}
TEST(event_count_plant, a_light_publication_that_nothing_orders_loses_a_wake) {
    model::expect_found<throttled_and_barriers>({model::harm::drop, file, "// T0"}, "lost wake",
                                                model::preemptions(3));
}
TEST(event_count_plant, a_look_for_one_who_is_coming_that_is_not_seq_cst_is_too_weak) {
    model::expect_found<throttled>({model::harm::soften, file, ", throttled"}, "lost wake",
                                   model::preemptions(3));
}
TEST(event_count_plant, a_pending_wake_without_an_age_relies_on_one_that_gets_no_cpu) {
    const model::result r = model::explore<woken_one_gets_no_cpu>(model::preemptions(3));
    model::print(r);
    EXPECT_NE(r.fault.find("lost wake"), std::string::npos) << r.fault;
}
TEST(event_count_plant, a_consumer_that_does_not_wake_the_next_loses_a_wake) {
    const model::result r = model::explore<throttled_and_forgetful>(model::preemptions(4));
    model::print(r);
    EXPECT_NE(r.fault.find("lost wake"), std::string::npos) << r.fault;
}

}  // namespace
