// The explorer finds the faults that it claims to find, and reports none in a correct model.
#include <memory>

#include "model/explorer/atomics.hpp"
#include "model/report.hpp"

namespace {

using model::atomic;
using model::explore;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;

template <std::memory_order Store, std::memory_order Load>
struct hand_over {
    static constexpr unsigned threads = 2;
    model::plain<int> data{0};
    atomic<bool> ready{false};
    void thread(unsigned t) {
        if (t == 1) {
            data.write(7);
            ready.store(true, Store);
        } else if (ready.load(Load)) {
            model::check(data.read() == 7, "the data is there");
        }
    }
    void end() const {}
};

TEST(explorer_faults, a_data_race_shows_when_either_order_is_too_weak) {
    model::expect_sound<hand_over<memory_order_release, memory_order_acquire>>();
    EXPECT_NE((explore<hand_over<memory_order_relaxed, memory_order_acquire>>().fault.find("data race")),
              std::string::npos);
    EXPECT_NE((explore<hand_over<memory_order_release, memory_order_relaxed>>().fault.find("data race")),
              std::string::npos);
}

struct lost_update {
    static constexpr unsigned threads = 2;
    atomic<int> count{0};
    void thread(unsigned) { count.store(count.load() + 1); }
    void end() const { model::check(count.load() == 2, "both are counted"); }
};

TEST(explorer_faults, a_check_that_fails_in_one_schedule_is_found_and_its_trace_is_told) {
    const model::result r = explore<lost_update>();
    EXPECT_NE(r.fault.find("both are counted"), std::string::npos);
    EXPECT_NE(r.trace.find("explorer_test.cpp"), std::string::npos) << r.trace;
}

struct locked_update {
    static constexpr unsigned threads = 3;
    model::mutex guard;
    model::plain<int> count{0};
    void thread(unsigned) {
        guard.lock();
        count.write(count.read() + 1);
        guard.unlock();
    }
    void end() const { model::check(count.read() == 3, "all are counted"); }
};

TEST(explorer_faults, a_mutex_makes_plain_data_safe) {
    model::expect_sound<locked_update>();
}

struct crossed_locks {
    static constexpr unsigned threads = 2;
    model::mutex first;
    model::mutex second;
    void thread(unsigned t) {
        (t == 1 ? first : second).lock();
        (t == 1 ? second : first).lock();
        (t == 1 ? second : first).unlock();
        (t == 1 ? first : second).unlock();
    }
    void end() const {}
};

TEST(explorer_faults, locks_taken_in_opposite_orders_are_a_deadlock) {
    EXPECT_NE(explore<crossed_locks>().fault.find("deadlock"), std::string::npos);
}

template <bool Looks>
struct sleeper {
    static constexpr unsigned threads = 2;
    atomic<std::uint32_t> word{0};
    model::parking parking;
    void thread(unsigned t) {
        if (t == 1) {
            parking.park(word, Looks ? 0 : word.load(), 0);
        } else {
            word.store(1);
            parking.unpark_one(word);
        }
    }
    void end() const {}
};

TEST(explorer_faults, a_wake_that_comes_before_the_sleep_is_lost_unless_the_word_is_compared) {
    model::expect_sound<sleeper<true>>();
    EXPECT_NE(explore<sleeper<false>>().fault.find("lost wake"), std::string::npos);
}

template <bool Ends>
struct spinner {
    static constexpr unsigned threads = 2;
    atomic<int> turn{0};
    void thread(unsigned t) {
        if (t == 2) {
            if (Ends) {
                turn.store(1, memory_order_relaxed);
            }
            return;
        }
        for (model::pausing pause; turn.load(memory_order_relaxed) == 0;) {
            pause();
        }
    }
    void end() const {}
};

TEST(explorer_faults, a_spin_ends_when_what_it_waits_for_comes_and_is_a_fault_when_it_never_does) {
    model::expect_sound<spinner<true>>();
    EXPECT_NE(explore<spinner<false>>().fault.find("spins"), std::string::npos);
}

struct node {
    atomic<int> value{5};
};

template <bool Waits>
struct reclaimer {
    static constexpr unsigned threads = 2;
    atomic<node*> shared{new node};
    atomic<bool> done{false};
    void thread(unsigned t) {
        if (t == 1) {
            if (const node* const n = shared.load()) {
                static_cast<void>(n->value.load());
            }
            done.store(true);
            return;
        }
        node* const mine = shared.exchange(nullptr);
        for (model::pausing pause; Waits && !done.load();) {
            pause();
        }
        delete mine;
    }
    void end() const {}
};

TEST(explorer_faults, use_after_free_is_found_though_the_memory_still_looks_fine) {
    model::expect_sound<reclaimer<true>>();
    EXPECT_NE(explore<reclaimer<false>>().fault.find("use after free"), std::string::npos);
}

struct forgetful {
    static constexpr unsigned threads = 1;
    atomic<node*> shared{nullptr};
    void thread(unsigned) { shared.store(new node); }
    void end() const {}
};
struct overeager {
    static constexpr unsigned threads = 1;
    void* memory = operator new(8);
    void thread(unsigned) const { operator delete (memory, std::size_t{8}); }
    void end() const { operator delete (memory, std::size_t{8}); }
};

TEST(explorer_faults, leaks_and_double_frees_are_found) {
    EXPECT_NE(explore<forgetful>().fault.find("never freed"), std::string::npos);
    EXPECT_NE(explore<overeager>().fault.find("freed twice"), std::string::npos);
}

// Three threads of two steps each: 6! / (2!)^3 schedules.
struct independent {
    static constexpr unsigned threads = 3;
    atomic<int> a{0};
    atomic<int> b{0};
    atomic<int> c{0};
    void thread(unsigned t) {
        atomic<int>& mine = t == 1 ? a : t == 2 ? b : c;
        mine.store(1, memory_order_relaxed);
        mine.store(2, memory_order_relaxed);
    }
    void end() const {}
};

TEST(explorer_search, states_that_were_seen_are_not_explored_again) {
    const model::result r = explore<independent>();
    EXPECT_TRUE(r.complete);
    EXPECT_LT(r.executions, 90U);  // all schedules, one by one
    const model::result bounded = explore<independent>({.preemptions = 0});
    EXPECT_TRUE(bounded.complete);
    EXPECT_LT(bounded.executions, r.executions);
}

TEST(explorer_search, a_bound_on_executions_ends_the_search_and_says_so) {
    EXPECT_FALSE(explore<independent>({.executions = 3}).complete);
}

}  // namespace
