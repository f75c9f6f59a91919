// Scenarios of racing threads over the model of a pool.
#pragma once

#include "model/control_word_model.hpp"

namespace model_pool {

constexpr spool::admission::sizes one_core{1, 1, false, false};
constexpr spool::admission::sizes no_core{0, 1, false, false};

// The first task arrives while another thread shuts the pool down.
template <class Control>
struct first_task_and_shutdown : pool<Control> {
    using base = pool<Control>;
    static constexpr unsigned threads = 3;
    static constexpr unsigned latent = 1;
    first_task_and_shutdown() : base(one_core) { this->termination.awaited = true; }
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
