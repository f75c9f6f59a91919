// explorer: runs a model under every schedule, and with every store that a load may read.
//
// A model is a class: it is built by thread 0, then thread(1) .. thread(n) run, each as a fiber, then thread 0 calls end() and
// destroys it:
//
//     struct hand_over {
//         static constexpr unsigned threads = 2;
//         void thread(unsigned t);  // what each does, with model::atomics
//         void end();               // checks what has come out
//     };
//     const model::result r = model::explore<hand_over>({});
//
// Before each operation that others can see stands a choice of who goes on; a load chooses what it reads. All choices are tried, depth
// first, each execution from the beginning. An execution ends early where it comes to a state that was seen before: the state is all of the
// memory (see memory.hpp), and what each thread has read so far, since that decides where it is. Without a bound on preemptions nothing is left out.
//
// A model that keeps what has come of it in plain members, which are no steps, says so by `std::uint64_t digest() const`; then what an ended
// thread has read is forgotten, and others may forget() it too.
//
// Found are: a failed check(), a data race, use after free, freeing twice, a leak, and threads that all wait (a lost wake, a deadlock, a
// spin that nothing can end).
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "model/explorer/plant.hpp"

namespace model {

struct bounds {
    static constexpr unsigned none = ~0U;
    unsigned preemptions = none;            ///< how often a thread that could go on has to give way
    std::uint64_t executions = 20'000'000;  ///< give up then
};

struct result {
    std::string fault;  ///< empty: none was found
    std::string trace;  ///< how it comes about
    bool complete = false;
    std::uint64_t executions = 0;
    std::uint64_t states = 0;
    unsigned longest = 0;      ///< operations of the longest execution
    std::uint64_t harmed = 0;  ///< operations that met the plant
    double seconds = 0;
    bounds bound;
};

/// The model as the explorer sees it.
struct subject {
    unsigned threads = 0;
    bool sequential = false;  // see memory.hpp
    unsigned latent = 0;      // so many of them, the last ones, wait until start() is called
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

/// A fault if it does not hold.
void check(bool holds, const char* claim);
/// One of 0 .. n - 1; all are tried.
[[nodiscard]] unsigned choose(unsigned n);
/// Starts one of the threads that the model keeps back (`latent`, how many); 0: none is left.
unsigned start();
/// What this thread has read so far no longer matters: it is at this place of the model, and all that it keeps is in what digest()
/// hashes.
void forget(unsigned place);
/// The thread that runs.
[[nodiscard]] unsigned self() noexcept;

}  // namespace model
