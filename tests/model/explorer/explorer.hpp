// explorer: runs a model under every schedule, and with every store that a load may read.
//
// A model is a class. Thread 0 constructs the model, then thread(1) .. thread(n) run, each as a
// fiber. Then thread 0 calls end() and destroys the model:
//
//     struct hand_over {
//         static constexpr unsigned threads = 2;
//         void thread(unsigned t);  // what each thread does, with model::atomics
//         void end();               // checks the outcome
//     };
//     const model::result r = model::explore<hand_over>({});
//
// Before each visible operation the explorer chooses the thread that runs next; for each load it
// chooses the store that the load reads. It tries all choices, depth first, and starts each
// execution from the beginning. An execution ends early at a state that was seen before. The state
// is the whole memory (see memory.hpp) and what each thread has read so far, since that determines
// the thread's position. Without a bound on preemptions nothing is left out.
//
// A model may keep its outcome in plain members, whose accesses are no steps. It then provides a
// hash of them, `std::uint64_t digest() const`. With a digest, the explorer forgets what a finished
// thread has read, and a running thread may call forget().
//
// The explorer finds a failed check(), a data race, a use after free, a double free, a leak, and a
// state in which all threads wait (a lost wake-up, a deadlock, a spin that nothing can end).
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "model/explorer/plant.hpp"

namespace model {

struct bounds {
    static constexpr unsigned none = ~0U;
    unsigned preemptions = none;            ///< how often a runnable thread may be preempted
    std::uint64_t executions = 20'000'000;  ///< the search gives up after that many
};

struct result {
    std::string fault;  ///< empty: no fault was found
    std::string trace;  ///< the steps that lead to the fault
    bool complete = false;
    std::uint64_t executions = 0;
    std::uint64_t states = 0;
    unsigned longest = 0;      ///< operations of the longest execution
    std::uint64_t harmed = 0;  ///< operations that the plant changed
    double seconds = 0;
    bounds bound;
};

/// The model as the explorer sees it.
struct subject {
    unsigned threads = 0;
    bool sequential = false;  // see memory.hpp
    unsigned latent = 0;      // how many of the threads, the last ones, wait for start()
    std::function<void*()> make;
    std::function<void(void*, unsigned)> thread;
    std::function<void(void*)> end;
    std::function<void(void*)> destroy;
    std::function<std::uint64_t(const void*)> digest;  // may be empty
};

[[nodiscard]] result explore(const subject& what, bounds bound, const plant& fault);

template <class Model>
[[nodiscard]] result explore(bounds bound = {}, const plant& fault = {}) {
    subject s;
    s.threads = Model::threads;
    if constexpr (requires { Model::sequential; }) {
        s.sequential = Model::sequential;
    }
    if constexpr (requires { Model::latent; }) {
        s.latent = Model::latent;
    }
    s.make = [] { return static_cast<void*>(new Model); };
    s.thread = [](void* m, unsigned t) { static_cast<Model*>(m)->thread(t); };
    s.end = [](void* m) { static_cast<Model*>(m)->end(); };
    s.destroy = [](void* m) { delete static_cast<Model*>(m); };
    if constexpr (requires(const Model& m) { m.digest(); }) {
        s.digest = [](const void* m) { return static_cast<const Model*>(m)->digest(); };
    }
    return explore(s, bound, fault);
}

// ---- For the text of a model

/// Reports `claim` as a fault if `holds` is false.
void check(bool holds, const char* claim);
/// Returns one of 0 .. n - 1; the search tries all.
[[nodiscard]] unsigned choose(unsigned n);
/// Starts one of the model's `latent` threads and returns its number. 0: none is left.
unsigned start();
/// Forgets what this thread has read so far: from here on, `place` stands for the thread's
/// position. Precondition: digest() hashes everything that the thread still depends on.
void forget(unsigned place);
/// The number of the running thread.
[[nodiscard]] unsigned self() noexcept;

}  // namespace model
