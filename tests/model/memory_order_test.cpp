// The explorer on the classical litmus tests: it shows what C++ allows, and nothing that C++
// forbids.
#include <array>
#include <bitset>

#include "model/explorer/atomics.hpp"
#include "model/report.hpp"

namespace {

using model::atomic;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;

// What the loads of a litmus test read, over all executions: small numbers, as decimal digits. It
// must not allocate: a model's memory is gone after each execution.
std::bitset<10'000> outcomes;

std::size_t digits(const std::array<int, 4>& got) {
    std::size_t number = 0;
    for (const int each : got) {
        number = 10 * number + static_cast<std::size_t>(each);
    }
    return number;
}

// Explores the model and returns whether `wanted` is a possible outcome.
template <class Model>
bool allows(const std::array<int, 4>& wanted) {
    outcomes.reset();
    const model::result r = model::explore<Model>();
    EXPECT_EQ(r.fault, "") << r.trace;
    EXPECT_TRUE(r.complete);
    return outcomes.test(digits(wanted));
}

struct litmus {
    atomic<int> x{0};
    atomic<int> y{0};
    std::array<int, 4> got{};
    void end() const { outcomes.set(digits(got)); }
};

template <std::memory_order Store, std::memory_order Load>
struct store_buffering : litmus {
    static constexpr unsigned threads = 2;
    void thread(unsigned t) {
        (t == 1 ? x : y).store(1, Store);
        got[t - 1] = (t == 1 ? y : x).load(Load);
    }
};

TEST(explorer_litmus, store_buffering_shows_unless_all_four_are_seq_cst) {
    EXPECT_TRUE((allows<store_buffering<memory_order_relaxed, memory_order_relaxed>>({0, 0})));
    EXPECT_TRUE((allows<store_buffering<memory_order_release, memory_order_acquire>>({0, 0})));
    EXPECT_TRUE((allows<store_buffering<memory_order_seq_cst, memory_order_acquire>>({0, 0})));
    EXPECT_FALSE((allows<store_buffering<memory_order_seq_cst, memory_order_seq_cst>>({0, 0})));
    EXPECT_TRUE((allows<store_buffering<memory_order_seq_cst, memory_order_seq_cst>>({1, 1})));
}

struct buffering_with_fences : litmus {
    static constexpr unsigned threads = 2;
    void thread(unsigned t) {
        (t == 1 ? x : y).store(1, memory_order_relaxed);
        model::world::fence(memory_order_seq_cst, std::source_location::current());
        got[t - 1] = (t == 1 ? y : x).load(memory_order_relaxed);
    }
};
struct buffering_with_one_fence : litmus {
    static constexpr unsigned threads = 2;
    void thread(unsigned t) {
        (t == 1 ? x : y).store(1, memory_order_relaxed);
        if (t == 1) {
            model::world::fence(memory_order_seq_cst, std::source_location::current());
        }
        got[t - 1] = (t == 1 ? y : x).load(memory_order_relaxed);
    }
};
struct buffering_with_a_fence_of_all : litmus {
    static constexpr unsigned threads = 2;
    void thread(unsigned t) {
        (t == 1 ? x : y).store(1, memory_order_relaxed);
        if (t == 1) {
            model::world::fence_all(std::source_location::current());
        }
        got[t - 1] = (t == 1 ? y : x).load(memory_order_relaxed);
    }
};

TEST(explorer_litmus, seq_cst_fences_forbid_store_buffering_and_one_on_behalf_of_all_is_enough) {
    EXPECT_FALSE(allows<buffering_with_fences>({0, 0}));
    EXPECT_TRUE(allows<buffering_with_one_fence>({0, 0}));
    EXPECT_FALSE(allows<buffering_with_a_fence_of_all>({0, 0}));
}

template <std::memory_order Store, std::memory_order Load>
struct message_passing : litmus {
    static constexpr unsigned threads = 2;
    void thread(unsigned t) {
        if (t == 1) {
            x.store(1, memory_order_relaxed);
            y.store(1, Store);
        } else {
            got[0] = y.load(Load);
            got[1] = x.load(memory_order_relaxed);
        }
    }
};

TEST(explorer_litmus, message_passing_needs_both_release_and_acquire) {
    EXPECT_TRUE((allows<message_passing<memory_order_relaxed, memory_order_acquire>>({1, 0})));
    EXPECT_TRUE((allows<message_passing<memory_order_release, memory_order_relaxed>>({1, 0})));
    EXPECT_FALSE((allows<message_passing<memory_order_release, memory_order_acquire>>({1, 0})));
    EXPECT_FALSE((allows<message_passing<memory_order_seq_cst, memory_order_seq_cst>>({1, 0})));
}

template <bool Release, bool Acquire>
struct passing_by_fences : litmus {
    static constexpr unsigned threads = 2;
    void thread(unsigned t) {
        const auto here = std::source_location::current();
        if (t == 1) {
            x.store(1, memory_order_relaxed);
            if (Release) {
                model::world::fence(memory_order_release, here);
            }
            y.store(1, memory_order_relaxed);
        } else {
            got[0] = y.load(memory_order_relaxed);
            if (Acquire) {
                model::world::fence(memory_order_acquire, here);
            }
            got[1] = x.load(memory_order_relaxed);
        }
    }
};

TEST(explorer_litmus, release_and_acquire_fences_pass_a_message_between_relaxed_accesses) {
    EXPECT_FALSE((allows<passing_by_fences<true, true>>({1, 0})));
    EXPECT_TRUE((allows<passing_by_fences<false, true>>({1, 0})));
    EXPECT_TRUE((allows<passing_by_fences<true, false>>({1, 0})));
}

// Two readers that may see two writes in different orders.
template <std::memory_order Order>
struct two_readers : litmus {
    static constexpr unsigned threads = 3;
    void thread(unsigned t) {
        if (t == 1) {
            x.store(1, Order);
            y.store(1, Order == memory_order_seq_cst ? Order : memory_order_relaxed);
        } else if (t == 2) {
            got[0] = x.load(Order);
            got[1] = y.load(Order);
        } else {
            got[2] = y.load(Order);
            got[3] = x.load(Order);
        }
    }
};

TEST(explorer_litmus, two_readers_may_disagree_on_relaxed_writes_but_not_on_seq_cst_ones) {
    EXPECT_TRUE((allows<two_readers<memory_order_relaxed>>({1, 0, 1, 0})));
    EXPECT_FALSE((allows<two_readers<memory_order_seq_cst>>({1, 0, 1, 0})));
}

struct coherence : litmus {
    static constexpr unsigned threads = 2;
    void thread(unsigned t) {
        if (t == 1) {
            x.store(1, memory_order_relaxed);
            x.store(2, memory_order_relaxed);
        } else {
            got[0] = x.load(memory_order_relaxed);
            got[1] = x.load(memory_order_relaxed);
        }
    }
};

TEST(explorer_litmus, one_word_never_goes_back) {
    EXPECT_TRUE(allows<coherence>({1, 2}));
    EXPECT_TRUE(allows<coherence>({1, 1}));
    EXPECT_FALSE(allows<coherence>({2, 1}));
    EXPECT_FALSE(allows<coherence>({1, 0}));
}

// A read-modify-write in between passes on what the release store carried.
struct release_sequence : litmus {
    static constexpr unsigned threads = 3;
    void thread(unsigned t) {
        if (t == 1) {
            x.store(1, memory_order_relaxed);
            y.store(1, memory_order_release);
        } else if (t == 2) {
            got[2] = y.fetch_add(1, memory_order_relaxed);
        } else {
            got[0] = y.load(memory_order_acquire);
            got[1] = x.load(memory_order_relaxed);
        }
    }
};

TEST(explorer_litmus, a_relaxed_read_modify_write_continues_a_release_sequence) {
    EXPECT_TRUE(allows<release_sequence>({2, 1, 1}));
    EXPECT_FALSE(allows<release_sequence>({2, 0, 1}));
}

struct counting : litmus {
    static constexpr unsigned threads = 3;
    void thread(unsigned) {
        x.fetch_add(1, memory_order_relaxed);
        for (int now = y.load(memory_order_relaxed);
             !y.compare_exchange_weak(now, now + 1, memory_order_relaxed);) {}
    }
    void end() {
        got = {x.load(), y.load()};
        litmus::end();
    }
};

TEST(explorer_litmus, read_modify_writes_lose_nothing_however_relaxed) {
    EXPECT_TRUE(allows<counting>({3, 3}));
    EXPECT_EQ(outcomes.count(), 1U);
}

}  // namespace
