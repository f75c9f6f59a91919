// The paths of the pool over the real control word and parts of the model.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <exception>
#include <optional>
#include <utility>

#include "model/explorer/atomics.hpp"
#include "model/report.hpp"
#include "pool/admission_path.hpp"
#include "pool/control_word.hpp"
#include "pool/lifecycle_path.hpp"
#include "pool/worker_path.hpp"

namespace model_pool {

using spool::admission_result;
using spool::run_state;
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

// The parts of a pool, with the names that the paths use, over words whose accesses are steps.
template <class Control>
class pool {
public:
    static constexpr bool sequential = true;  // every operation is seq_cst
    using task_type = task;
    using ticket = task;
    explicit pool(spool::admission::sizes s) : settings{s} {}
    pool(const pool&) = delete;
    pool& operator=(const pool&) = delete;

    // ---- What the threads do
    // execute() from where admit() has done nothing.
    void execute(task work) {
        task mine = work;
        note_answer(work, mine, finish(mine, work, admitted::below_core));
    }
    void execute_quickly(task work) {
        task mine = work;
        const admitted how = admission().admit(mine);
        model::check(how != admitted::below_core || mine == work, "a task that is not admitted is untouched");
        note_answer(work, mine, finish(mine, work, how));
    }
    // The rest of execute(), for a submitter that loaded the control word before the shutdown.
    void offer_late(task work) {
        task mine = work;
        static_cast<void>(backlog.offer(mine));
        accepted_ |= finish(mine, work, admitted::look_again) == admission_result::accepted ? 1U << work : 0;
    }
    void shutdown() { lifecycle().shutdown(); }
    void await_end() {
        static_cast<void>(termination.changed.await(
            [this] { return control.load().state == run_state::terminated; }, [] { return false; }));
        model::check(hook_, "the hook has returned when the pool has ended");
    }
    // The body of a worker, as worker_path::work(). `first` is its first task, or 0.
    void work(task first, bool dies = false) {
        for (;;) {
            model::forget(2);
            if (serve(first, dies) ? workers().try_replace_self() : !workers().rejoin_if_needed()) {
                break;
            }
            first = 0;
        }
        stopped_[model::self()] = true;  // D2
        workers().end_departure();
    }
    // The body of the latent worker, which start_thread() starts.
    void work_if_started() { work(first_); }

    // ---- What the paths need besides the parts
    struct slot {
        std::optional<spool::task_id> errand;
        task first = 0;
    };
    unsigned start_thread(slot* w) {
        const task before = std::exchange(first_, std::exchange(w->first, 0));
        const unsigned thread = model::start();
        if (thread == 0) {
            w->first = std::exchange(first_, before);
        }
        begun_[thread] = thread != 0;
        return thread;
    }
    void on_shutdown() {}

    // ---- The parts
    Control control;
    struct {
        spool::admission::sizes values;
        [[nodiscard]] spool::admission::sizes sizes() const { return values; }
        [[nodiscard]] std::size_t core_size() const { return values.core; }
        [[nodiscard]] std::uint64_t version() const { return 0; }
    } settings;
    struct {
        void report_queue_failure() const {}
    } config;
    struct {
        model::atomic<unsigned> queue{0};  // a bit per task
        event consumers;
        bool wakes = true;  // false: wake_consumers() wakes no worker
        bool looks = true;  // false: a leaving worker does not check the queue

        [[nodiscard]] static ticket ticket_of(task work) { return work; }
        bool offer(task& work) {
            queue.fetch_or(1U << std::exchange(work, 0));  // E1
            consumers.notify();                            // pair (S): the queue
            return true;
        }
        [[nodiscard]] static bool try_recover(task&) { return true; }
        [[nodiscard]] static bool try_withdraw(task&) { return true; }
        bool poll_into(task& next) {
            unsigned now = queue.load();
            while (now != 0) {
                const unsigned lowest = now & (~now + 1);
                if (queue.compare_exchange_weak(now, now & ~lowest)) {
                    next = static_cast<task>(std::countr_zero(lowest));
                    return true;
                }
            }
            return false;
        }
        std::optional<task> take_back(ticket wanted) {
            const unsigned bit = 1U << wanted;
            return (queue.fetch_and(~bit) & bit) != 0 ? std::optional{wanted} : std::nullopt;
        }
        [[nodiscard]] bool is_empty() const { return queue.load() == 0; }  // the look at the queue
        [[nodiscard]] bool is_surely_empty() const { return !looks || is_empty(); }
        void synchronize_with_producers() {}  // no barrier: every word of this queue is seq_cst
        void wake_consumers() {
            if (wakes) {
                consumers.notify();
            }
        }
        void wake_producers() {}
    } backlog;
    struct {
        pool& host;
        std::array<slot, 4> slots{};  // of the starters

        slot* enlist(task* first) {
            const spool::pool_control now = host.control.load();
            if (!spool::accepts_tasks(now.state) && (first != nullptr || !spool::runs_queue(now.state))) {
                return nullptr;
            }
            const spool::admission::sizes sizes = host.settings.sizes();
            model::check(!sizes.queue_first || now.workers <= std::max<std::size_t>(sizes.core, 1),
                         "where every task goes through the queue, no more workers than core threads, or "
                         "one, are started");
            slot& mine = slots[model::self()];
            mine.first = first != nullptr ? std::exchange(*first, 0) : 0;
            return &mine;
        }
        bool keep_thread(slot*, unsigned thread) { return thread != 0; }
        bool strike_off(slot& w, task* first) {
            if (first != nullptr) {
                *first = std::exchange(w.first, 0);
            }
            return true;
        }
        void record_start() {}
        void record_start_failure(const std::exception_ptr&) {}
    } roster{*this};
    struct {
        pool& host;
        event changed{};       // for threads that wait for termination
        bool awaited = false;  // there is such a thread

        void notify() {
            if (awaited) {
                changed.notify();
            }
        }
        template <class Config>
        void run_hook(const Config&) {
            model::check(!host.hook_, "the pool ends once");
            for (unsigned t = 1; t <= 3; ++t) {
                model::check(!host.begun_[t] || host.stopped_[t],
                             "the hook comes after the last worker has stopped");
            }
            host.hook_ = true;
        }
    } termination{*this};

    [[nodiscard]] std::uint64_t digest() const {
        std::uint64_t all = accepted_ << 8U | run_ << 16U | (hook_ ? 2U : 0U) | first_ << 24U;
        for (unsigned t = 1; t <= 3; ++t) {
            all |= (begun_[t] ? 1ULL << (32 + t) : 0) | (stopped_[t] ? 1ULL << (40 + t) : 0);
        }
        return all;
    }
    void end() {
        const spool::pool_control now = control.load();
        model::check(run_ == accepted_, "what was accepted has run, once, and nothing else");
        model::check(now.state == run_state::terminated || now.state == run_state::running,
                     "a pool that was shut down has ended");
        model::check(backlog.queue.load() == 0, "nothing is left in the queue");
        model::check(now.workers == 0 || now.state == run_state::running, "nobody is counted after the end");
        model::check(!control.is_any_departing(), "nobody is departing");
    }

protected:
    // Counts in a worker that exists from the beginning.
    void has_worker(unsigned thread) {
        spool::pool_control seen = control.load();
        static_cast<void>(control.try_add_worker(seen));
        begun_[thread] = true;
    }
    bool times_out_ = false;  // a worker that finds nothing times out at once

private:
    using admission_path = spool::admission_path<pool>;
    using admitted = typename admission_path::admitted;

    admission_path admission() { return admission_path{*this}; }
    spool::worker_path<pool> workers() { return spool::worker_path<pool>{*this}; }
    spool::lifecycle_path<pool> lifecycle() { return spool::lifecycle_path<pool>{*this}; }

    admission_result finish(task& mine, ticket work, admitted how) {
        std::exception_ptr error;
        return admission().finish(mine, work, how, error);
    }
    void note_answer(task work, task left, admission_result how) {
        model::check(how == admission_result::accepted || how == admission_result::shut_down,
                     "a task is accepted, or the pool is shut down");
        model::check(how == admission_result::accepted || left == work,
                     "a task that is refused is given back");
        accepted_ |= how == admission_result::accepted ? 1U << work : 0;
    }

    // One fetch of the next task by a worker.
    struct idle {
        pool& host;
        task next = 0;
        bool poll() { return host.backlog.poll_into(next); }
        void must_stay() {}
        template <class LookAgain>
        wait_result wait(bool limited, LookAgain& look_again) {
            const bool times_out = limited && host.times_out_;
            const wait_result how = host.backlog.consumers.await([this] { return poll(); },
                                                                 [&] { return times_out || look_again(); });
            return how == wait_result::gave_up && times_out ? wait_result::timed_out : how;
        }
    };
    // True: the worker died of a task.
    bool serve(task next, bool dies) {
        for (;;) {
            if (next == 0) {
                model::forget(1);
                idle now{*this};
                if (!workers().fetch_or_leave(now)) {
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

    task first_ = 0;  // of the latent worker
    // The outcome, for the checks: not part of the protocol, so accesses to it are no steps.
    unsigned accepted_ = 0;
    unsigned run_ = 0;
    std::array<bool, 4> begun_{};
    std::array<bool, 4> stopped_{};
    bool hook_ = false;
};

}  // namespace model_pool
