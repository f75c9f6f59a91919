// The work-stealing deque: the last element, near and far elements, growth, and the freeze.
#include "model/explorer/atomics.hpp"
#include "model/report.hpp"
#include "spool/queue/detail/stealing_deque.hpp"

namespace {

using item = model::plain<int>;

// A deque whose ring begins with `Ring` slots, and in which only one or two elements are near.
template <std::size_t Ring>
class deque_of {
public:
    void push(int value) {
        item x{value};
        deque_.push(x);
        pushed_ |= 1U << value;
    }
    void pop() {
        if (node* const n = deque_.try_pop()) {
            take(n->unpack()->read());
            deque_.recycle(n);
        }
    }
    void steal() {
        if (node* const n = deque_.try_steal()) {
            take(n->unpack()->read());
            deque_.return_from_thief(n);
        }
    }
    void remove(int value) {
        node* list = nullptr;
        {
            const model::lock_guard lock{mutex_};
            deque_.freeze();
            if (deque_.mark_wanted([value](const item& each) { return each.read() == value; }) != 0) {
                *deque_.unlink_marked(&list) = nullptr;
            }
            deque_.thaw();
        }
        if (list != nullptr) {
            take(list->unpack()->read());
            deque_.return_from_thief(list);
        }
    }
    void trim() { deque_.trim(); }
    void expose() { deque_.exposes = true; }
    [[nodiscard]] std::uint64_t digest() const { return pushed_ << 8U | taken_; }
    void end() {
        while (node* const n = deque_.try_steal()) {
            take(n->unpack()->read());
            deque_.return_from_thief(n);
        }
        model::check(taken_ == pushed_, "what was pushed has been taken, once");
    }

private:
    using deque = spool::detail::stealing_deque<item, model::atomics, Ring, 1>;
    using node = typename deque::node;

    void take(int value) {
        model::check((taken_ & 1U << value) == 0, "an element is taken once");
        taken_ |= 1U << value;
    }
    model::mutex mutex_;
    deque deque_{mutex_};
    unsigned pushed_ = 0;
    unsigned taken_ = 0;
};

// The owner pops the last element while a thief steals it.
struct last_element : deque_of<4> {
    static constexpr unsigned threads = 2;
    void thread(unsigned t) {
        if (t == 1) {
            push(1);
            pop();
        } else {
            steal();
        }
    }
};
struct last_element_and_two_thieves : deque_of<4> {
    static constexpr unsigned threads = 3;
    last_element_and_two_thieves() { push(1); }
    void thread(unsigned t) { t == 1 ? pop() : steal(); }
};
// The owner pops from the bottom while a thief steals from the top.
struct two_elements : deque_of<4> {
    static constexpr unsigned threads = 2;
    void thread(unsigned t) {
        if (t == 1) {
            push(1);
            push(2);
            pop();
            pop();
        } else {
            steal();
            steal();
        }
    }
};
// Some elements are far at first, and become near as the owner pops.
struct far_elements : deque_of<4> {
    static constexpr unsigned threads = 2;
    far_elements() {
        push(1);
        push(2);
        push(3);
    }
    void thread(unsigned t) {
        if (t == 1) {
            pop();
            pop();
            pop();
        } else {
            steal();
            steal();
        }
    }
};
// The owner pushes for thieves, and pops one of the elements itself.
struct exposed_elements : deque_of<4> {
    static constexpr unsigned threads = 2;
    void thread(unsigned t) {
        if (t == 1) {
            expose();
            push(1);
            push(2);
            pop();
            pop();
        } else {
            steal();
            steal();
        }
    }
};
struct exposed_element_and_freezer : deque_of<4> {
    static constexpr unsigned threads = 3;
    void thread(unsigned t) {
        if (t == 1) {
            expose();
            push(1);
            pop();
        } else if (t == 2) {
            steal();
        } else {
            remove(1);
        }
    }
};
struct growth : deque_of<2> {
    static constexpr unsigned threads = 2;
    growth() {
        push(1);
        push(2);
    }
    void thread(unsigned t) {
        if (t == 1) {
            push(3);
            pop();
        } else {
            steal();
            steal();
        }
    }
};
struct removal : deque_of<4> {
    static constexpr unsigned threads = 3;
    removal() {
        push(1);
        push(2);
    }
    void thread(unsigned t) {
        switch (t) {
            case 1: pop(); break;
            case 2: steal(); break;
            default: remove(1);
        }
    }
};

// The owner nulls the slots (trim()) while a thief may have read one of them.
struct trimming : deque_of<4> {
    static constexpr unsigned threads = 2;
    void thread(unsigned t) {
        if (t == 1) {
            push(1);
            trim();
            pop();
            trim();
            push(2);
        } else {
            steal();
            steal();
        }
    }
};

TEST(stealing_deque_model, exposed_elements_are_taken_once) {
    model::expect_sound<exposed_elements>(model::preemptions(4));
    model::expect_sound<exposed_element_and_freezer>(model::preemptions(3));
}
TEST(stealing_deque_model, the_last_element_goes_to_the_owner_or_the_thief) {
    model::expect_sound<last_element>();
}
TEST(stealing_deque_model, the_last_element_goes_to_one_of_three) {
    model::expect_sound<last_element_and_two_thieves>(model::preemptions(3));
}
TEST(stealing_deque_model, owner_and_thief_meet_in_the_middle) {
    model::expect_sound<two_elements>(model::preemptions(4));
}
TEST(stealing_deque_model, far_elements_come_near_again) {
    model::expect_sound<far_elements>(model::preemptions(4));
}
TEST(stealing_deque_model, a_thief_may_go_on_with_the_old_ring) {
    model::expect_sound<growth>(model::preemptions(4));
}
TEST(stealing_deque_model, a_thief_takes_no_slot_that_the_owner_has_nulled) {
    model::expect_sound<trimming>(model::preemptions(4));
}
TEST(stealing_deque_model, what_is_frozen_is_the_freezers_alone) {
    model::expect_sound<removal>(model::preemptions(2));
}

// ---- Planted faults

constexpr const char* file = "stealing_deque.hpp";

TEST(stealing_deque_plant, a_thief_without_the_heavy_barrier_takes_what_the_owner_took) {
    model::expect_found<two_elements>({model::harm::drop, file, "heavy_barrier()"}, "",
                                      model::preemptions(4));
}
TEST(stealing_deque_plant, a_bottom_stored_without_release_hands_nothing_over) {
    model::expect_found<last_element>(  // with any symptom
        {model::harm::relax, file, "b, std::memory_order_release);  // B2"}, "");
}
TEST(stealing_deque_plant, an_owner_that_nulls_the_slots_of_elements_loses_them) {
    model::expect_found<trimming>({model::harm::pretend, file, "// E1", 1000}, "",  // any symptom
                                  model::preemptions(4));
}
TEST(stealing_deque_plant, an_owner_that_does_not_compete_for_the_last_takes_it_twice) {
    model::expect_found<two_elements>({model::harm::pretend, file, "// P2", 0}, "",  // any symptom
                                      model::preemptions(4));
}

}  // namespace
