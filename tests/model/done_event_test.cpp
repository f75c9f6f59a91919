// done_event: waiting for an event that happens once.
#include "model/explorer/atomics.hpp"
#include "model/report.hpp"
#include "spool/detail/done_event.hpp"

namespace {

using event = spool::basic_done_event<model::parking>;

// Pair (S): the condition is a seq_cst word, which also publishes the data.
struct seq_cst_condition {
    event done;
    model::atomic<bool> happened{false};
    model::plain<int> data{0};

    void await() {
        unsigned looks = 0;
        static_cast<void>(done.await([&] { return look(++looks); }));
        model::check(data.read() == 7, "what was published is there");
    }
    void happen() {
        data.write(7);
        happened.store(true);  // N1
        done.notify_all();
    }
    bool look(unsigned) { return happened.load(); }  // W2
    void end() const {}
};

struct one_waiter : seq_cst_condition {
    static constexpr unsigned threads = 2;
    void thread(unsigned t) { t == 1 ? await() : happen(); }
};
struct two_waiters : seq_cst_condition {
    static constexpr unsigned threads = 3;
    void thread(unsigned t) { t == 3 ? happen() : await(); }
};
// The event happens once, but two threads may notify the waiters (a stop, and the completion).
struct two_notifiers : seq_cst_condition {
    static constexpr unsigned threads = 3;
    void thread(unsigned t) {
        switch (t) {
            case 1: await(); break;
            case 2: happen(); break;
            default: done.notify_all();
        }
    }
};

// Pair (M): the waiter reads and the notifier changes the condition under one mutex.
struct one_waiter_and_a_mutex {
    static constexpr unsigned threads = 2;
    event done;
    model::mutex guard;
    model::plain<bool> happened{false};

    void thread(unsigned t) {
        if (t == 1) {
            static_cast<void>(done.await([this] {
                const std::lock_guard lock{guard};
                return happened.read();
            }));
            return;
        }
        {
            const std::lock_guard lock{guard};
            happened.write(true);
        }
        done.notify_all();
    }
    void end() const {}
};

// Planted in the model, which holds the condition: the look between W1 and W3 is left out.
struct no_second_look : seq_cst_condition {
    static constexpr unsigned threads = 2;
    void await() {
        unsigned looks = 0;
        static_cast<void>(done.await([&] { return ++looks != 2 && happened.load(); }));
    }
    void thread(unsigned t) { t == 1 ? await() : happen(); }
};

TEST(done_event_model, one_waiter_is_woken_or_sees_it) {
    model::expect_sound<one_waiter>();
}
TEST(done_event_model, two_waiters_are_both_woken) {
    model::expect_sound<two_waiters>();
}
TEST(done_event_model, a_second_notify_does_no_harm) {
    model::expect_sound<two_notifiers>();
}
TEST(done_event_model, a_mutex_instead_of_seq_cst_words_will_do) {
    model::expect_sound<one_waiter_and_a_mutex>();
}

// ---- Planted faults

constexpr const char* file = "done_event.hpp";
constexpr const char* here = "done_event_test.cpp";

TEST(done_event_plant, without_the_second_look_the_wake_is_lost) {
    const model::result r = model::explore<no_second_look>();
    model::print(r);
    EXPECT_NE(r.fault.find("lost wake"), std::string::npos) << r.fault;
}
TEST(done_event_plant, a_notifier_that_overlooks_the_waiter_loses_the_wake) {
    model::expect_found<one_waiter>({model::harm::pretend, file, "// N2", 0}, "lost wake");
}
TEST(done_event_plant, an_announcement_that_is_not_ordered_before_the_look_is_too_weak) {
    model::expect_found<one_waiter>({model::harm::soften, file, "// W1"}, "lost wake");
}
TEST(done_event_plant, a_look_for_waiters_that_is_not_ordered_after_the_publication_is_too_weak) {
    model::expect_found<one_waiter>({model::harm::soften, file, "// N2"}, "lost wake");
}
TEST(done_event_plant, a_publication_that_is_not_seq_cst_is_too_weak) {
    model::expect_found<one_waiter>({model::harm::soften, here, "// N1"}, "lost wake");
}
TEST(done_event_plant, a_second_look_that_is_not_seq_cst_is_too_weak) {
    model::expect_found<one_waiter>({model::harm::soften, here, "// W2"}, "lost wake");
}
TEST(done_event_plant, a_wake_that_does_not_change_the_word_is_lost) {
    model::expect_found<one_waiter>({model::harm::drop, file, "// N3"}, "lost wake");
}
TEST(done_event_plant, a_wake_left_out_is_lost) {
    model::expect_found<one_waiter>({model::harm::drop, file, "parking_.unpark_all(word_)"}, "lost wake");
}

}  // namespace
