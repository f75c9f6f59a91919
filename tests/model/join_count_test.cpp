// join_count: the end of a task_group's children, and the one wake-up by the last of them.
#include <memory>

#include "model/explorer/atomics.hpp"
#include "model/report.hpp"
#include "spool/pool/detail/join_count.hpp"

namespace {

using events = spool::basic_event_count<model::parking>;
using count = spool::detail::basic_join_count<model::atomics, events>;

// Thread 1 acts as the maker: it waits as task_group does, then destroys the count at once.
struct group {
    std::unique_ptr<count> children = std::make_unique<count>();
    model::plain<int> results[2];
    unsigned looks = 0;  // not part of the protocol

    group() {
        children->add_here();
        children->add_here();
    }
    void join() {
        if (!children->all_ended()) {
            children->begin_sleep();
            static_cast<void>(
                children->wakes.await([this] { return ++looks, children->all_ended_in_sleep(); }));
            children->end_sleep();
        }
        children.reset();
        model::check(results[0].read() + results[1].read() == 3, "what the children did is there");
    }
    void end_child(unsigned which) {
        results[which].write(static_cast<int>(which) + 1);
        children->end_elsewhere();
    }
    void end() const {
        // The first look, the look before the sleep, and the look after the one wake-up.
        model::check(looks <= 3, "the maker is woken once");
    }
};

struct two_workers : group {
    static constexpr unsigned threads = 3;
    void thread(unsigned t) { t == 1 ? join() : end_child(t - 2); }
};
// One child runs on the maker's thread, after the maker has begun to sleep once.
struct maker_runs_one : group {
    static constexpr unsigned threads = 2;
    model::atomic<bool> forked{false};
    void join() {
        children->begin_sleep();
        const auto ended = [this] { return children->all_ended_in_sleep(); };
        static_cast<void>(children->wakes.await(ended, {}, [this] { return forked.load(); }));
        results[1].write(2);
        children->end_here();
        static_cast<void>(children->wakes.await(ended));
        children->end_sleep();
        children.reset();
        model::check(results[0].read() + results[1].read() == 3, "what the children did is there");
    }
    void thread(unsigned t) {
        if (t == 1) {
            join();
            return;
        }
        children->add_elsewhere();  // as task_group::fork() does
        forked.store(true);
        children->end_elsewhere_and_wake();
        end_child(0);
    }
    void end() const {}
};
// A child forks another before it ends; each ends on its own thread.
struct fork_elsewhere : group {
    static constexpr unsigned threads = 3;
    model::atomic<bool> forked{false};
    fork_elsewhere() { children->end_here(); }  // leaves one child that the maker forked
    void thread(unsigned t) {
        if (t == 1) {
            join();
        } else if (t == 2) {
            children->add_elsewhere();
            forked.store(true);
            end_child(0);
        } else {
            while (!forked.load()) {
                model::pausing{}();
            }
            end_child(1);
        }
    }
    void end() const {}
};

TEST(join_count_model, maker_is_woken_once_and_may_destroy_the_group_at_once) {
    model::expect_sound<two_workers>();
}
TEST(join_count_model, maker_that_runs_a_child_between_two_sleeps_is_woken) {
    model::expect_sound<maker_runs_one>();
}
TEST(join_count_model, child_that_a_child_forks_is_waited_for) {
    model::expect_sound<fork_elsewhere>();
}

// ---- Planted faults

constexpr const char* file = "join_count.hpp";

TEST(join_count_plant, maker_that_does_not_say_that_it_sleeps_is_not_woken) {
    model::expect_found<two_workers>({model::harm::drop, file, "// M1"}, "lost wake");
}
TEST(join_count_plant, wake_up_left_out_is_lost) {
    model::expect_found<two_workers>({model::harm::drop, "event_count.hpp", "parking_.unpark_all(epoch_);"},
                                     "lost wake");
}
TEST(join_count_plant, child_that_is_not_counted_out_is_waited_for_without_end) {
    model::expect_found<two_workers>({model::harm::drop, file, "// C2"}, "");
}
TEST(join_count_plant, count_that_hands_nothing_over_is_too_weak) {
    model::expect_found<two_workers>({model::harm::relax, file, "// C1"}, "use after free");
}
// Planted in the model: the last child counts itself out without the lock, then wakes the maker.
struct wake_after_the_end : group {
    static constexpr unsigned threads = 3;
    model::atomic<unsigned> left{2};
    void thread(unsigned t) {
        if (t == 1) {
            static_cast<void>(children->wakes.await([this] { return left.load() == 0; }));
            children.reset();
        } else if (left.fetch_sub(1) == 1) {
            children->wakes.notify_all();
        }
    }
    void end() const {}
};
TEST(join_count_plant, wake_up_outside_of_the_lock_comes_to_a_group_that_is_gone) {
    const model::result r = model::explore<wake_after_the_end>();
    model::print(r);
    EXPECT_NE(r.fault, "") << "the planted fault was not found";
}

}  // namespace
