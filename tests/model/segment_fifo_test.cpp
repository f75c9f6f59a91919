// The lock-free storage of linked_blocking_queue: slots, segments, and the freeze. Segments have
// two slots, so that three elements cross a gap.
#include <array>
#include <vector>

#include "model/explorer/atomics.hpp"
#include "model/report.hpp"
#include "spool/queue/detail/segment_fifo.hpp"

namespace {

using item = model::plain<int>;
using fifo = spool::detail::segment_fifo<item, 2, model::atomics>;

// Records what goes in and comes out. Elements are numbers from 1 on. Each producer pushes
// ascending numbers; of two producers, one pushes odd numbers and the other even ones.
class queue {
public:
    void push(int value, std::size_t capacity = fifo::unlimited) {
        item x{value};
        if (fifo_.try_push(x, capacity)) {
            pushed_ |= 1U << value;
        }
    }
    // Pops one element. 0: there is none.
    int pop() {
        int got = 0;
        if (std::optional<item> x = fifo_.try_pop()) {
            got = x->read();
            take(got);
        }
        return got;
    }
    // Removes the element with this number.
    void remove(int value) {
        for (item& x : fifo_.extract_if([value](const item& each) { return each.read() == value; })) {
            take(x.read());
        }
    }
    [[nodiscard]] std::size_t size() const { return fifo_.size(); }

    [[nodiscard]] std::uint64_t digest() const { return pushed_ << 8U | taken_; }
    void end() {
        for (int last = 0; const int now = pop(); last = now) {
            model::check(last < now || (last + now) % 2 != 0, "the rest of each producer comes in its order");
        }
        model::check(taken_ == pushed_, "what went in has come out, once");
    }

private:
    void take(int value) {
        model::check((taken_ & 1U << value) == 0, "an element is taken once");
        taken_ |= 1U << value;
    }
    fifo fifo_;
    unsigned pushed_ = 0;
    unsigned taken_ = 0;
};

struct producer_and_consumer : queue {
    static constexpr unsigned threads = 2;
    void thread(unsigned t) {
        if (t == 1) {
            push(1);
            push(2);
            push(3);
            return;
        }
        int last = 0;
        for (int i = 0; i < 3; ++i) {
            const int now = pop();
            model::check(now == 0 || now > last, "elements come in the order in which they went in");
            last = now == 0 ? last : now;
        }
    }
};
struct two_producers : queue {
    static constexpr unsigned threads = 3;
    void thread(unsigned t) {
        if (t == 3) {
            pop();
            pop();
            return;
        }
        push(static_cast<int>(t));
        push(static_cast<int>(t) + 2);
    }
};
// One consumer takes the first element of a segment. The other takes the last and retires the
// segment. Thread 2 soon needs another segment: it reuses the retired one if both consumers have
// left it.
struct drained_segment : queue {
    static constexpr unsigned threads = 2;
    drained_segment() {
        push(1);
        push(2);
    }
    void thread(unsigned t) {
        pop();
        if (t == 2) {
            push(3);
            push(4);
            push(5);
        }
    }
};
struct full_queue : queue {
    static constexpr unsigned threads = 3;
    full_queue() { push(1, 1); }
    void thread(unsigned t) {
        if (t < 3) {
            push(static_cast<int>(t) + 1, 1);
            model::check(size() <= 2, "there is room for one, and one may have come and gone");
        } else {
            pop();
        }
    }
};
// One thread removes an element from the middle while the others push and pop.
struct removal : queue {
    static constexpr unsigned threads = 3;
    removal() {
        push(1);
        push(2);
    }
    void thread(unsigned t) {
        switch (t) {
            case 1: push(3); break;
            case 2: pop(); break;
            default: remove(2);
        }
    }
};

TEST(segment_fifo_model, a_consumer_follows_a_producer_over_the_gap) {
    model::expect_sound<producer_and_consumer>(model::preemptions(4));
}
TEST(segment_fifo_model, two_producers_share_the_last_slot_and_the_gap) {
    model::expect_sound<two_producers>(model::preemptions(2));
}
TEST(segment_fifo_model, a_drained_segment_is_used_again_only_when_both_consumers_have_left_it) {
    model::expect_sound<drained_segment>(model::preemptions(5));
}
TEST(segment_fifo_model, the_capacity_holds) {
    model::expect_sound<full_queue>(model::preemptions(3));
}
TEST(segment_fifo_model, a_freeze_is_alone_with_all_elements) {
    model::expect_sound<removal>(model::preemptions(2));
}

// ---- Planted faults

TEST(segment_fifo_plant, a_slot_published_without_release_is_a_race_on_the_element) {
    model::expect_found<producer_and_consumer>({model::harm::relax, "slot.hpp", "turn_.store(t, "},
                                               "data race", model::preemptions(4));
}
TEST(segment_fifo_plant, a_slot_awaited_without_acquire_is_a_race_on_the_element) {
    model::expect_found<producer_and_consumer>({model::harm::relax, "slot.hpp", "pause; turn_.load("},
                                               "data race", model::preemptions(4));
}
TEST(segment_fifo_plant, a_segment_that_is_not_linked_holds_up_the_consumer) {
    model::expect_found<producer_and_consumer>({model::harm::drop, "segment.hpp", "next_.store(s, "}, "spins",
                                               model::preemptions(4));
}
TEST(segment_fifo_plant, a_slot_left_without_release_is_used_again_too_early) {
    model::expect_found<drained_segment>({model::harm::relax, "slot.hpp", "turn_.store(t | released_bit"},
                                         "data race", model::preemptions(5));
}
TEST(segment_fifo_plant, a_segment_taken_for_drained_is_used_again_while_it_is_held) {
    model::expect_found<drained_segment>(
        {model::harm::count_up, "slot.hpp", "== (t | released_bit)", (1ULL << 63U) + 1}, "",
        model::preemptions(5));
}

}  // namespace
