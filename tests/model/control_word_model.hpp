// A minimal host for pool_steps.hpp over the real control word, and scenarios of racing steps.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <optional>
#include <utility>

#include "model/explorer/atomics.hpp"
#include "model/report.hpp"
#include "pool/control_word.hpp"
#include "pool/pool_steps.hpp"

namespace model_pool {

using spool::admission_result;
using spool::quick_result;
using spool::run_state;
using spool::start_bound;
using spool::start_result;
using spool::wait_result;

// A task is a number from 1 on; 0 is none.
using task = unsigned;

// event_count (it has its own model) in fewer steps: a notify after the look began ends the wait.
class event {
public:
    template <class Ready, class GiveUp>
    wait_result await(const Ready& ready, const GiveUp& give_up) {
        for (;;) {
            static_cast<void>(notified_.load());
            if (ready()) {
                return wait_result::ready;
            }
            if (give_up()) {
                return wait_result::gave_up;
            }
            model::world::await_change(notified_.word(), std::source_location::current());
        }
    }
    void notify() { notified_.store(0); }

private:
    model::atomic<unsigned> notified_{0};  // only the fact of a store matters
};

using control_word = spool::basic_control_word<model::atomic<std::uint64_t>>;

template <class Control>
class pool {
public:
    static constexpr bool sequential = true;  // every operation is seq_cst
    explicit pool(spool::admission::sizes s) : sizes_(s) {}

    // ---- What the threads do
    void execute(task work) {
        task mine = work;
        int error = 0;
        const admission_result how = steps().admit(mine, error);
        note_answer(work, mine, how);
    }
    void execute_quickly(task work) {
        task mine = work;
        int error = 0;
        const quick_result how = steps().admit_quickly(mine);
        if (how == quick_result::not_simple) {
            model::check(mine == work, "a task that is not simple is untouched");
            execute(work);
            return;
        }
        const auto answer = how == quick_result::accepted  ? admission_result::accepted
                            : how == quick_result::refused ? steps().refused_by_queue(mine, error)
                                                           : steps().recheck(mine, work, error);
        note_answer(work, mine, answer);
    }
    // The rest of execute(), for a submitter that loaded the control word before the shutdown.
    void offer_late(task work) {
        task mine = work;
        int error = 0;
        static_cast<void>(offer(mine));
        accepted_ |= steps().recheck(mine, work, error) == admission_result::accepted ? 1U << work : 0;
    }
    void shutdown() {
        int error = 0;
        task* const none = nullptr;
        steps().shutdown(none, error);
    }
    void await_end() {
        static_cast<void>(changed_.await([this] { return control_.load().state == run_state::terminated; },
                                         [] { return false; }));
        model::check(hook_, "the hook has returned when the pool has ended");
    }
    // The body of a worker, as in core::work(). `first` is its first task, or 0.
    void work(task first, bool dies = false) {
        for (;;) {
            model::forget(2);
            if (serve(first, dies) ? hands_over() : !steps().stays()) {
                break;
            }
            first = 0;
        }
        stopped_[model::self()] = true;  // D2
        steps().departed();
    }
    // The body of the latent worker, which launch() starts.
    void work_if_started() { work(first_); }

    // ---- The host of pool_steps
    [[nodiscard]] spool::admission::sizes sizes() const { return sizes_; }
    [[nodiscard]] std::size_t core_size() const { return sizes_.core; }
    [[nodiscard]] std::uint64_t settings_version() const { return 0; }
    [[nodiscard]] static task ticket_of(task work) { return work; }
    admission_result recheck(task& work, task mine, int& error) { return steps().recheck(work, mine, error); }
    admission_result refused_by_queue(task& work, int& error) {
        return steps().refused_by_queue(work, error);
    }
    bool offer(task& work) {
        queue_.fetch_or(1U << std::exchange(work, 0));  // E1
        consumers_.notify();                            // pair (S): the queue
        return true;
    }
    [[nodiscard]] bool queue_empty() { return queue_.load() == 0; }  // the look at the queue
    [[nodiscard]] bool queue_is_empty() { return !looks_ || queue_empty(); }
    std::optional<task> take_back_if_possible(task wanted) {
        const unsigned bit = 1U << wanted;
        return (queue_.fetch_and(~bit) & bit) != 0 ? std::optional{wanted} : std::nullopt;
    }
    start_result start_worker(task* first, start_bound limit, int& error) {
        return steps().start_worker(first, limit, error);
    }
    start_result launch(task* first, int&) {
        const spool::pool_control now = control_.load();
        if (!spool::runs_queue(now.state)) {
            return start_result::not_allowed;
        }
        model::check(!sizes_.queue_first || now.workers <= std::max<std::size_t>(sizes_.core, 1),
                     "where every task goes through the queue, no more workers than core threads, or one, "
                     "are started");
        first_ = first != nullptr ? std::exchange(*first, 0) : 0;
        const unsigned thread = model::start();
        begun_[thread] = thread != 0;
        return thread != 0 ? start_result::started : start_result::failed;
    }
    void try_for_the_stranded() {}
    void tell_of_free_place() { tell_of_the_end(); }
    void tell_of_the_end() {
        if (awaited_) {
            changed_.notify();
        }
    }
    void try_terminate() {
        if (steps().try_tidy()) {
            model::check(!hook_, "the pool ends once");
            for (unsigned t = 1; t <= 3; ++t) {
                model::check(!begun_[t] || stopped_[t], "the hook comes after the last worker has stopped");
            }
            hook_ = true;
            control_.advance_to(run_state::terminated);
            tell_of_the_end();
            ended_ = true;
        }
    }
    void on_shutdown() {}
    void settle_queue() {}  // no barrier: every word of this queue is seq_cst
    void wake_consumers() {
        if (wakes_) {
            consumers_.notify();
        }
    }
    void wake_everybody() {
        wake_consumers();
        tell_of_the_end();
    }

    [[nodiscard]] std::uint64_t digest() const {
        std::uint64_t all =
            accepted_ << 8U | run_ << 16U | (ended_ ? 1U : 0U) | (hook_ ? 2U : 0U) | first_ << 24U;
        for (unsigned t = 1; t <= 3; ++t) {
            all |= (begun_[t] ? 1ULL << (32 + t) : 0) | (stopped_[t] ? 1ULL << (40 + t) : 0);
        }
        return all;
    }
    void end() {
        model::check(run_ == accepted_, "what was accepted has run, once, and nothing else");
        model::check(ended_ || control_.load().state == run_state::running,
                     "a pool that was shut down has ended");
        model::check(queue_.load() == 0, "nothing is left in the queue");
        model::check(control_.load().workers == 0 || control_.load().state == run_state::running,
                     "nobody is counted after the end");
        model::check(!control_.somebody_departs(), "nobody is departing");
    }

protected:
    // Counts in a worker that exists from the beginning.
    void has_worker(unsigned thread) {
        spool::pool_control seen = control_.load();
        static_cast<void>(control_.try_add_worker(seen));
        begun_[thread] = true;
    }
    bool awaited_ = false;    // a thread waits for termination
    bool wakes_ = true;       // false: wake_consumers() wakes no worker
    bool looks_ = true;       // false: a leaving worker does not check the queue
    bool times_out_ = false;  // a worker that finds nothing times out at once

private:
    using words = model::atomic<unsigned>;
    using all_steps = spool::pool_steps<Control, pool>;

    all_steps steps() { return {control_, *this}; }

    void note_answer(task work, task left, admission_result how) {
        model::check(how == admission_result::accepted || how == admission_result::shut_down,
                     "a task is accepted, or the pool is shut down");
        model::check(how == admission_result::accepted || left == work,
                     "a task that is refused is given back");
        accepted_ |= how == admission_result::accepted ? 1U << work : 0;
    }

    // One fetch of the next task by a worker.
    struct turn {
        pool& host;
        task next = 0;
        bool poll() {
            unsigned now = host.queue_.load();
            while (now != 0) {
                const unsigned lowest = now & (~now + 1);
                if (host.queue_.compare_exchange_weak(now, now & ~lowest)) {
                    next = static_cast<task>(std::countr_zero(lowest));
                    return true;
                }
            }
            return false;
        }
        void has_to_stay() {}
        template <class LookAgain>
        wait_result wait(bool limited, LookAgain& look_again) {
            const bool times_out = limited && host.times_out_;
            const wait_result how =
                host.consumers_.await([this] { return poll(); }, [&] { return times_out || look_again(); });
            return how == wait_result::gave_up && times_out ? wait_result::timed_out : how;
        }
    };
    // True: the worker died of a task.
    bool serve(task next, bool dies) {
        for (;;) {
            if (next == 0) {
                model::forget(1);
                turn now{*this};
                if (!steps().fetch(now)) {
                    return false;
                }
                next = now.next;
            }
            model::check((run_ & 1U << next) == 0, "a task runs once");
            run_ |= 1U << next;
            if (dies) {
                return true;
            }
            next = 0;
        }
    }
    bool hands_over() {
        return steps().hands_over([this] {
            int error = 0;
            return launch(nullptr, error);
        });
    }

    const spool::admission::sizes sizes_;
    Control control_;
    words queue_{0};  // a bit per task
    event consumers_;
    event changed_;   // for threads that wait for termination
    task first_ = 0;  // of the latent worker
    // The outcome, for the checks: not part of the protocol, so accesses to it are no steps.
    unsigned accepted_ = 0;
    unsigned run_ = 0;
    bool ended_ = false;
    std::array<bool, 4> begun_{};
    std::array<bool, 4> stopped_{};
    bool hook_ = false;
};

constexpr spool::admission::sizes one_core{1, 1, false, false};
constexpr spool::admission::sizes no_core{0, 1, false, false};

// The first task arrives while another thread shuts the pool down.
template <class Control>
struct first_task_and_shutdown : pool<Control> {
    using base = pool<Control>;
    static constexpr unsigned threads = 3;
    static constexpr unsigned latent = 1;
    first_task_and_shutdown() : base(one_core) { this->awaited_ = true; }
    void thread(unsigned t) {
        switch (t) {
            case 1: this->execute(1); break;
            case 2:
                this->shutdown();
                this->await_end();
                break;
            default: this->work_if_started();
        }
    }
};

// A task is enqueued while the worker may be parked and another thread shuts the pool down.
template <class Control>
struct queued_task_and_shutdown : pool<Control> {
    using base = pool<Control>;
    static constexpr unsigned threads = 3;
    queued_task_and_shutdown() : base(one_core) { this->has_worker(3); }
    void thread(unsigned t) {
        switch (t) {
            case 1: this->execute(1); break;
            case 2: this->shutdown(); break;
            default: this->work(0);
        }
    }
};

// A task is enqueued while the last worker times out and leaves.
template <class Control>
struct queued_task_and_leaver : pool<Control> {
    using base = pool<Control>;
    static constexpr unsigned threads = 3;
    static constexpr unsigned latent = 1;
    queued_task_and_leaver() : base(no_core) {
        this->has_worker(2);
        this->times_out_ = true;
    }
    void thread(unsigned t) {
        switch (t) {
            case 1: this->execute(1); break;
            case 2: this->work(0); break;
            default: this->work_if_started();
        }
    }
};

// The same two, with the task on the fast path.
template <class Control>
struct quick_task_and_shutdown : queued_task_and_shutdown<Control> {
    void thread(unsigned t) {
        t == 1 ? this->execute_quickly(1) : queued_task_and_shutdown<Control>::thread(t);
    }
};
template <class Control>
struct quick_task_and_leaver : queued_task_and_leaver<Control> {
    void thread(unsigned t) {
        t == 1 ? this->execute_quickly(1) : queued_task_and_leaver<Control>::thread(t);
    }
};

// A late offer while the last worker leaves a shut-down pool: it may rejoin, then leave again.
template <class Control>
struct late_offer_and_leaver : pool<Control> {
    using base = pool<Control>;
    static constexpr unsigned threads = 2;
    late_offer_and_leaver() : base(one_core) {
        this->has_worker(2);
        this->shutdown();
    }
    void thread(unsigned t) { t == 1 ? this->offer_late(1) : this->work(0); }
};

// Two tasks arrive at a queue_first pool without core threads, then the pool is shut down.
template <class Control>
struct two_callers_without_core_threads : pool<Control> {
    using base = pool<Control>;
    static constexpr unsigned threads = 3;
    static constexpr unsigned latent = 1;
    two_callers_without_core_threads() : base({0, 2, false, true}) {}
    void thread(unsigned t) {
        switch (t) {
            case 1: this->execute(1); break;
            case 2:
                this->execute(2);
                this->shutdown();
                break;
            default: this->work_if_started();
        }
    }
};

// Two workers leave during a shutdown: exactly one of the three threads terminates the pool.
template <class Control>
struct two_leavers_and_shutdown : pool<Control> {
    using base = pool<Control>;
    static constexpr unsigned threads = 3;
    two_leavers_and_shutdown() : base({2, 2, false, false}) {
        this->has_worker(2);
        this->has_worker(3);
    }
    void thread(unsigned t) { t == 1 ? this->shutdown() : this->work(0); }
};

}  // namespace model_pool
