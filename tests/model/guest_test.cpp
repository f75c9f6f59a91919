// Attach and detach: a guest owns a deque for a while, beside a worker that is about to sleep,
// beside another guest that takes the deque over, and beside a thief.
#include <optional>

#include "model/event_count_things.hpp"
#include "model/explorer/atomics.hpp"
#include "model/report.hpp"
#include "spool/queue/detail/deque_list.hpp"
#include "spool/queue/detail/stealing_deque.hpp"

namespace {

using item = model::plain<int>;
using deque = spool::detail::stealing_deque<item, model::atomics, 4, 1>;
using node = deque::node;

// The parts of a work-stealing queue that attaching, detaching and waiting use. The models need two
// deques at most.
class queue_of_deques {
public:
    deque& attach() {
        deque& mine = list_.attach(mutex_);
        touch(mine);
        return mine;
    }
    void detach(deque& mine) {
        touch(mine);
        if (list_.detach(mine)) {
            ready_.notify_all();  // D4
        }
    }
    void push(deque& mine, int value) {
        push_in_silence(mine, value);
        model::atomics::light_barrier();
        ready_.notify_one();
    }
    // Nobody is told until the owner detaches.
    void push_in_silence(deque& mine, int value) {
        item x{value};
        mine.push(x);
        pushed_ |= 1U << value;
    }
    void pop(deque& mine) {
        if (node* const n = mine.try_pop()) {
            take(n->unpack()->read());
            mine.recycle(n);
        }
    }
    bool steal() {
        for (deque* d = list_.first(); d != nullptr; d = d->next) {
            if (node* const n = d->try_steal()) {
                take(n->unpack()->read());
                d->return_from_thief(n);
                return true;
            }
        }
        return false;
    }
    // A worker without work waits until it has stolen one element.
    void wait_and_steal() {
        bool rests = false;
        const auto announced = [&] {
            if (std::exchange(rests, true) ? list_.awake.has_any() : list_.awake.remove_then_has_any()) {
                model::atomics::heavy_barrier();
            }
        };
        static_cast<void>(ready_.await([this] { return steal(); }, {}, [] { return false; }, announced));
        list_.awake.add();
    }
    [[nodiscard]] std::uint64_t digest() const { return pushed_ << 8U | taken_; }
    void end() {
        while (steal()) {}
        model::check(taken_ == pushed_, "what was pushed has been taken, once");
    }

protected:
    // One deque in the list, whose owner has left.
    void make_free_deque() {
        deque& d = list_.attach(mutex_);
        static_cast<void>(list_.detach(d));
    }
    void count_worker() { list_.awake.add(); }
    void uncount() { list_.awake.remove(); }
    void detach_in_silence(deque& mine) { static_cast<void>(list_.detach(mine)); }

private:
    // Stands for everything that only the owner of the deque touches.
    void touch(const deque& mine) {
        model::plain<int>& data = owned_[mine.next == nullptr ? 0 : 1];
        data.write(data.read() + 1);
    }
    void take(int value) {
        model::check((taken_ & 1U << value) == 0, "an element is taken once");
        taken_ |= 1U << value;
    }
    model::mutex mutex_;
    spool::detail::deque_list<deque, model::atomics> list_;
    model::events ready_;
    model::plain<int> owned_[2]{{0}, {0}};
    unsigned pushed_ = 0;
    unsigned taken_ = 0;
};

// A guest comes, adds one element and goes. The worker, which was about to sleep, gets it.
template <bool Reuses>
struct guest_leaves_an_element : queue_of_deques {
    static constexpr unsigned threads = 2;
    guest_leaves_an_element() {
        count_worker();
        if (Reuses) {
            make_free_deque();
        }
    }
    void thread(unsigned t) {
        if (t == 1) {
            wait_and_steal();
            return;
        }
        deque& mine = attach();
        push(mine, 1);
        detach(mine);
    }
};
// The guest tells nobody of its push: only D4 can wake the worker.
struct guest_leaves_in_silence : guest_leaves_an_element<true> {
    void thread(unsigned t) {
        if (t == 1) {
            wait_and_steal();
            return;
        }
        deque& mine = attach();
        push_in_silence(mine, 1);
        detach(mine);
    }
};
// Two guests, one after the other with the same deque, or at once with one each.
struct two_guests : queue_of_deques {
    static constexpr unsigned threads = 2;
    two_guests() { make_free_deque(); }
    void thread(unsigned t) {
        deque& mine = attach();
        push_in_silence(mine, static_cast<int>(t));
        pop(mine);
        detach(mine);
    }
};
// A thief beside a guest that comes, pops its own element, and goes.
struct guest_and_thief : queue_of_deques {
    static constexpr unsigned threads = 2;
    guest_and_thief() { make_free_deque(); }
    void thread(unsigned t) {
        if (t == 1) {
            static_cast<void>(steal());
            return;
        }
        deque& mine = attach();
        push_in_silence(mine, 1);
        pop(mine);
        detach(mine);
    }
};

TEST(guest_model, a_worker_gets_what_a_guest_leaves_in_a_deque_that_was_free) {
    model::expect_sound<guest_leaves_an_element<true>>(model::preemptions(3));
}
TEST(guest_model, a_worker_gets_what_a_guest_leaves_in_a_new_deque) {
    model::expect_sound<guest_leaves_an_element<false>>(model::preemptions(3));
}
TEST(guest_model, detaching_wakes_a_worker_for_what_is_left) {
    model::expect_sound<guest_leaves_in_silence>(model::preemptions(3));
}
TEST(guest_model, a_deque_has_one_owner_at_a_time) {
    model::expect_sound<two_guests>(model::preemptions(3));
}
TEST(guest_model, a_thief_and_a_guest_take_an_element_once) {
    model::expect_sound<guest_and_thief>(model::preemptions(4));
}

// ---- Planted faults

constexpr const char* list = "deque_list.hpp";
constexpr const char* deque_file = "stealing_deque.hpp";

TEST(guest_plant, a_new_deque_that_is_not_found_in_the_list_keeps_its_elements) {
    model::expect_found<guest_leaves_an_element<false>>(
        {model::harm::pretend, list, "{ return head_.load(); }", 0}, "", model::preemptions(3));
}
TEST(guest_plant, an_acquisition_that_receives_nothing_is_a_race_of_two_owners) {
    model::expect_found<two_guests>({model::harm::relax, deque_file, "(is_owned, true)"}, "",
                                    model::preemptions(3));
}
TEST(guest_plant, a_release_that_publishes_nothing_is_a_race_of_two_owners) {
    model::expect_found<two_guests>({model::harm::relax, deque_file, "owned_.store(false)"}, "",
                                    model::preemptions(3));
}
TEST(guest_plant, a_guest_that_does_not_count_as_awake_is_missed_by_a_sleeper) {
    struct uncounted : guest_leaves_an_element<true> {
        void thread(unsigned t) {
            if (t == 1) {
                wait_and_steal();
                return;
            }
            deque& mine = attach();
            uncount();  // planted in the model
            push(mine, 1);
        }
    };
    const model::result r = model::explore<uncounted>(model::preemptions(3));
    model::print(r);
    EXPECT_NE(r.fault.find("lost wake"), std::string::npos) << r.fault;
}
TEST(guest_plant, leftovers_that_wake_nobody_are_forgotten) {
    struct without_d4 : guest_leaves_in_silence {
        void thread(unsigned t) {
            if (t == 1) {
                wait_and_steal();
                return;
            }
            deque& mine = attach();
            push_in_silence(mine, 1);
            detach_in_silence(mine);  // planted in the model
        }
    };
    const model::result r = model::explore<without_d4>(model::preemptions(3));
    model::print(r);
    EXPECT_NE(r.fault.find("lost wake"), std::string::npos) << r.fault;
}

}  // namespace
