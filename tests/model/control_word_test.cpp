// Models of the control word: execute, shutdown, leaving workers, and termination.
#include <string>

#include "model/control_word_scenarios.hpp"

namespace {

using model_pool::control_word;
using model_pool::first_task_and_shutdown;
using model_pool::late_offer_and_leaver;
using model_pool::queued_task_and_leaver;
using model_pool::queued_task_and_shutdown;
using model_pool::quick_task_and_leaver;
using model_pool::quick_task_and_shutdown;
using model_pool::two_callers_without_core_threads;
using model_pool::two_leavers_and_shutdown;

TEST(control_word_model, a_first_task_is_run_or_refused_and_the_pool_ends) {
    model::expect_sound<first_task_and_shutdown<control_word>>();
}
TEST(control_word_model, a_queued_task_is_run_or_refused_and_the_pool_ends) {
    model::expect_sound<queued_task_and_shutdown<control_word>>(model::preemptions(5));
}
TEST(control_word_model, a_task_queued_as_the_last_worker_leaves_is_run) {
    model::expect_sound<queued_task_and_leaver<control_word>>();
}
TEST(control_word_model, a_task_that_goes_the_short_way_is_run_or_refused_and_the_pool_ends) {
    model::expect_sound<quick_task_and_shutdown<control_word>>(model::preemptions(5));
}
TEST(control_word_model, a_task_that_goes_the_short_way_as_the_last_worker_leaves_is_run) {
    model::expect_sound<quick_task_and_leaver<control_word>>();
}
TEST(control_word_model, a_worker_that_comes_back_for_a_late_task_is_not_overtaken_by_the_end) {
    model::expect_sound<late_offer_and_leaver<control_word>>();
}
TEST(control_word_model, callers_at_once_bring_one_worker_where_there_are_no_core_threads) {
    model::expect_sound<two_callers_without_core_threads<control_word>>(model::preemptions(4));
}
TEST(control_word_model, the_pool_ends_once_and_after_the_last_worker) {
    model::expect_sound<two_leavers_and_shutdown<control_word>>(model::preemptions(4));
}

// ---- Planted faults

template <class Model>
void expect_fault(const std::string& symptom, unsigned preemptions = 5) {
    const model::result r = model::explore<Model>(model::preemptions(preemptions));
    model::print(r);
    EXPECT_NE(r.fault.find(symptom), std::string::npos) << r.fault << "\n" << model::end_of_trace(r);
}

// Leaves out the look after the offer (E2): execute() uses the value of its previous load instead.
// Below the core size, E2 is the submitter's third load. In the common case it is is_still().
struct no_second_look : control_word {
    unsigned looks = 0;
    spool::pool_control before;
    [[nodiscard]] spool::pool_control load() {
        if (model::self() != 1) {
            return control_word::load();
        }
        return ++looks == 3 ? before : before = control_word::load();
    }
    [[nodiscard]] static bool is_still(const observation&) { return true; }
};
TEST(control_word_plant, without_the_look_after_the_offer_a_task_is_left) {
    expect_fault<queued_task_and_leaver<no_second_look>>("what was accepted has run");
}

TEST(control_word_plant, without_the_look_after_the_offer_a_task_is_left_on_the_short_way_too) {
    expect_fault<quick_task_and_leaver<no_second_look>>("what was accepted has run");
    expect_fault<quick_task_and_shutdown<no_second_look>>("what was accepted has run");
}

struct leaver_without_a_look : queued_task_and_leaver<control_word> {
    leaver_without_a_look() { backlog.looks = false; }
};
TEST(control_word_plant, a_worker_that_leaves_without_a_look_at_the_queue_leaves_a_task) {
    expect_fault<leaver_without_a_look>("what was accepted has run");
}

struct silent_shutdown : two_leavers_and_shutdown<control_word> {
    silent_shutdown() { backlog.wakes = false; }
};
TEST(control_word_plant, a_shutdown_that_wakes_nobody_is_a_lost_wake) {
    expect_fault<silent_shutdown>("lost wake");
}

// Counts a leaving worker out without counting it as departing.
struct no_departure : control_word {
    [[nodiscard]] bool try_leave(spool::pool_control& seen) { return try_release_worker(seen); }
    [[nodiscard]] bool try_come_back(spool::pool_control& seen) { return try_add_worker(seen); }
    void end_departure() {}
};
TEST(control_word_plant, a_worker_that_departs_uncounted_is_overtaken_by_the_end) {
    expect_fault<two_leavers_and_shutdown<no_departure>>("the hook comes after the last worker has stopped");
}

// Counts departing workers in a separate word, which try_tidy() reads after the control word.
// Between that read and the compare-exchange, a worker that rejoined (0 departing) may leave again.
struct departure_apart : control_word {
    model::atomic<unsigned> departing{0};
    [[nodiscard]] bool try_leave(spool::pool_control& seen) {
        departing.fetch_add(1);
        const bool left = try_release_worker(seen);
        departing.fetch_sub(left ? 0 : 1);
        return left;
    }
    [[nodiscard]] bool try_come_back(spool::pool_control& seen) {
        const bool back = try_add_worker(seen);
        departing.fetch_sub(back ? 1 : 0);
        return back;
    }
    void end_departure() { departing.fetch_sub(1); }
    [[nodiscard]] bool try_tidy(const spool::pool_control& seen) {
        return departing.load() == 0 && control_word::try_tidy(seen);
    }
    [[nodiscard]] bool is_any_departing() const { return departing.load() != 0; }
};
TEST(control_word_plant, two_words_that_never_were_so_at_one_time_end_the_pool_too_early) {
    expect_fault<late_offer_and_leaver<departure_apart>>("the hook comes after the last worker has stopped",
                                                         model::bounds::none);
}

// The handshake with stale loads, so that a planted order that is too weak shows.
struct leaver_with_stale_loads : queued_task_and_leaver<control_word> {
    static constexpr bool sequential = false;
};
TEST(control_word_model, the_handshake_holds_with_stale_loads) {
    model::expect_sound<leaver_with_stale_loads>();
}
struct quick_leaver_with_stale_loads : quick_task_and_leaver<control_word> {
    static constexpr bool sequential = false;
};
TEST(control_word_model, the_handshake_of_the_short_way_holds_with_stale_loads) {
    model::expect_sound<quick_leaver_with_stale_loads>();
}
TEST(control_word_plant, a_look_at_the_control_word_that_is_not_seq_cst_is_too_weak) {
    model::expect_found<leaver_with_stale_loads>(
        {model::harm::soften, "control_word.hpp", "unpack(word_.load()).now"}, "what was accepted has run");
}
TEST(control_word_plant, a_second_look_of_the_short_way_that_is_not_seq_cst_is_too_weak) {
    model::expect_found<quick_leaver_with_stale_loads>(
        {model::harm::soften, "control_word.hpp", "word_.load() == seen.word_"}, "what was accepted has run");
}
TEST(control_word_plant, a_look_at_the_queue_that_is_not_seq_cst_is_too_weak) {
    model::expect_found<leaver_with_stale_loads>(
        {model::harm::soften, "control_word_model.hpp", "// the look at the queue"},
        "what was accepted has run");
}

}  // namespace
