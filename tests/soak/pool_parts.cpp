// The user-supplied parts of a pool: hooks that count, pause and throw; factories that fail;
// rejection policies.
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#ifdef __linux__
#include <sched.h>
#endif

#include "leaks.hpp"
#include "world.hpp"

namespace soak {
namespace {

using namespace std::chrono_literals;
using spool::task;

// True on a thread that its factory pins.
bool& pins_here() noexcept {
    static thread_local bool pins = false;
    return pins;
}

class counting_hooks final : public spool::pool_hooks {
public:
    counting_hooks(slot& at, std::uint64_t seed) : at_(at), seed_(seed) {}

    void before_execute(const spool::task_info& info) override {
        const std::uint64_t n = next();
        if (n % 16 == 0) {  // pauses for a while, or until the task's stop
            try {
                spool::this_task::sleep_for(std::chrono::microseconds{n / 16 % 800});
            } catch (const spool::interrupted&) {
                return;
            }
        }
        if (at_.hooks_throw && n % 13 == 0) {
            at_.in->note(info.id, &entry::skipped);
            throw on_purpose{};
        }
    }
    void after_execute(const spool::task_info&, const std::exception_ptr&) override { perhaps_throw(29); }
    void worker_started(const spool::worker_info&) override {
        ++at_.workers_started;
        perhaps_throw(11);
    }
    void worker_stopped(const spool::worker_info&) override {
        at_.late_stops += at_.terminations.load() == 0 ? 0 : 1;
        ++at_.workers_stopped;
        perhaps_throw(11);
    }
    void rejected(const spool::task_info& info, spool::rejection_reason) override {
        ++at_.reported;
        at_.in->note(info.id, &entry::reported);
        perhaps_throw(7);
    }
    void terminated() override {
        ++at_.terminations;
        perhaps_throw(2);
    }

private:
    std::uint64_t next() { return dice{seed_ + count_.fetch_add(1)}(); }
    void perhaps_throw(std::uint64_t one_in) {
        if (at_.hooks_throw && next() % one_in == 0) {
            throw on_purpose{};
        }
    }

    slot& at_;
    const std::uint64_t seed_;
    std::atomic<std::uint64_t> count_{0};
};

// Checks that a pinned thread may run on one CPU only.
void check_pinned(const slot& at) {
#ifdef __linux__
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    if (pins_here() && sched_getaffinity(0, sizeof cpus, &cpus) == 0 && CPU_COUNT(&cpus) != 1) {
        at.in->report("a pinned worker may run on " + std::to_string(CPU_COUNT(&cpus)) + " CPUs");
    }
#else
    static_cast<void>(at);
#endif
}

// The body of a pool's thread, around the worker's own body.
class thread_body {
public:
    thread_body(slot& at, task inner) : at_(&at), inner_(std::move(inner)) {}
    void operator()() {
        slot& at = *at_;
        ++at.threads_begun;
        worker_of() = &at;
        check_pinned(at);
        inner_();
        inner_ = nullptr;
        worker_of() = nullptr;
        ++at.threads_ended;
    }

private:
    slot* at_;
    task inner_;
};

class own_handle final : public spool::worker_thread::handle {
public:
    explicit own_handle(std::thread t) : thread_(std::move(t)) {}
    void join() override { thread_.join(); }
    void detach() override { thread_.detach(); }

private:
    std::thread thread_;
};

spool::worker_thread start(slot& at, task inner, std::uint64_t roll) {
    if (at.in->planted == plant::leaked_thread) {
        leak_thread();
    }
    if (at.in->planted == plant::leaked_descriptor) {
        leak_descriptor();
    }
    std::thread made{thread_body{at, std::move(inner)}};
    if (roll % 3 == 0) {
        return spool::worker_thread{std::make_unique<own_handle>(std::move(made))};
    }
    return made;
}

}  // namespace

std::shared_ptr<spool::pool_hooks> make_hooks(slot& at, std::uint64_t seed) {
    return std::make_shared<counting_hooks>(at, seed);
}

spool::thread_factory sound_factory(slot& at) {
    return [&at](task inner, const spool::worker_info& info) {
        return start(at, std::move(inner), info.number);
    };
}

namespace {

// The first CPU that this process may use. Empty: the system does not tell.
std::vector<int> first_cpu() {
#ifdef __linux__
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    if (sched_getaffinity(0, sizeof cpus, &cpus) == 0) {
        for (int i = 0; i < CPU_SETSIZE; ++i) {
            if (CPU_ISSET(i, &cpus)) {
                return {i};
            }
        }
    }
#endif
    return {};
}

}  // namespace

// Two kinds of pools get no threads that drop their body ("threads forget"). If a task of the pool
// holds the last handle, the pool would end on a thread that it wants to join. If the factory also
// fails to start threads, no worker may be left to run the queued tasks.
spool::thread_factory pick_factory(slot& at, dice& chance, std::string* name) {
    const std::uint64_t seed = chance();
    const std::size_t kind = chance.below(8);
    if (kind == 0 && !at.drops_bodies) {
        if (name != nullptr) {
            *name += ", threads fail";
        }
        at.factory_fails = true;
        at.may_drop = true;
        return [&at, seed](task inner, const spool::worker_info& info) -> spool::worker_thread {
            const std::uint64_t roll = dice{seed + info.number}();
            if (roll % 4 == 0) {
                throw on_purpose{};
            }
            if (roll % 4 == 1) {
                return {};
            }
            return start(at, std::move(inner), roll);
        };
    }
    if (kind == 1 && !at.ends_itself && !at.factory_fails) {
        if (name != nullptr) {
            *name += ", threads forget";
        }
        at.drops_bodies = true;
        at.may_drop = true;
        return [&at, seed](task inner, const spool::worker_info& info) -> spool::worker_thread {
            const std::uint64_t roll = dice{seed + info.number}();
            if (roll % 3 == 0) {
                return std::thread{[dropped = std::move(inner)] { keeps_off() = true; }};
            }
            return start(at, std::move(inner), roll);
        };
    }
    if (kind == 3) {
        if (name != nullptr) {
            *name += ", pinned threads";
        }
        const std::vector<int> cpus = at.in->planted == plant::unpinned ? std::vector<int>{} : first_cpu();
        return [&at, cpus](task inner, const spool::worker_info& info) {
            return spool::worker_thread_factory({.affinity = cpus})(
                task{[pinned = thread_body{at, std::move(inner)}]() mutable {
                    pins_here() = true;
                    pinned();
                }},
                info);
        };
    }
    if (kind == 2) {
        return [&at](task inner, const spool::worker_info& info) {
            return spool::worker_thread_factory({.stack_size = 256 * 1024})(
                task{thread_body{at, std::move(inner)}}, info);
        };
    }
    return sound_factory(at);
}

// A pool whose own task holds the last handle gets no discard_oldest_policy: evicting that task
// would end the pool in the middle of a call on it.
spool::rejection_policy pick_policy(const slot& at, dice& chance, std::string* name) {
    const auto picked = [name](const char* text, spool::rejection_policy policy) {
        if (name != nullptr) {
            *name += text;
        }
        return policy;
    };
    const std::size_t kind = chance.below(8);
    at.may_evict = at.may_evict || kind == 3;
    at.may_drop = at.may_drop || kind == 1 || kind == 2 || kind == 3 || kind > 5;
    switch (kind == 3 && at.ends_itself ? 0 : kind) {
        case 0: return picked(", abort", spool::abort_policy{});
        case 1: return picked(", caller runs", spool::caller_runs_policy{});
        case 2: return picked(", discard", spool::discard_policy{});
        case 3: return picked(", discard oldest", spool::discard_oldest_policy{});
        case 4: return picked(", block", spool::block_policy{});
        case 5: return picked(", block 1 ms", spool::block_policy{.limit = 1ms});
        case 6:
            return picked(", a policy that throws", [](task&&, spool::rejection_reason,
                                                       spool::thread_pool_executor&) { throw on_purpose{}; });
        default:
            return picked(", a policy that keeps",
                          [in = at.in](task&& t, spool::rejection_reason, spool::thread_pool_executor&) {
                              std::vector<task> one;
                              one.push_back(std::move(t));
                              in->keep(std::move(one));
                          });
    }
}

}  // namespace soak
