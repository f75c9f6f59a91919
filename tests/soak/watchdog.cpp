#include "watchdog.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "support/delays.hpp"

namespace soak {
namespace {

using clock = std::chrono::steady_clock;

struct state {
    std::mutex mutex;  // guards the other members
    std::condition_variable changed;
    world* round = nullptr;
    clock::time_point until;
    bool started = false;
};
state& all() {
    static state* const one = new state;  // leaked: its thread outlives main()
    return *one;
}

// A pool may be destroyed meanwhile, so this may read freed memory. That is acceptable: the process
// ends anyway.
[[noreturn]] void bark(const world& in) {
    std::string text = "soak: a round does not end: seed " + std::to_string(in.seed) + "\n";
    for (const auto& s : in.slots) {
        text += s->settings + (s->factory_fails ? " (threads fail)" : "") +
                (s->drops_bodies ? " (threads forget)\n" : "\n");
    }
    text += std::to_string(in.tasks.size()) + " tasks; unfinished:";
    for (std::size_t i = 0; i < in.tasks.size() && text.size() < 4000; ++i) {
        const entry& e = *in.tasks.at(i);
        if (e.made != e.gone || e.inside != 0) {
            text += " " + std::to_string(i) + " (" + to_string(e.by) + ", pool " + std::to_string(e.pool) +
                    ", calls " + std::to_string(e.calls) + ", inside " + std::to_string(e.inside) + ")";
        }
    }
    text += "\n";
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
    for (const auto& s : in.slots) {
        if (const spool::thread_pool_executor* const pool = s->raw.load()) {
            std::fputs((pool->describe() + "\n").c_str(), stderr);
            std::fflush(stderr);
        }
    }
    std::abort();
}

void watch() {
    state& s = all();
    std::unique_lock lock{s.mutex};
    for (;;) {
        if (s.round == nullptr) {
            s.changed.wait(lock);
        } else if (s.changed.wait_until(lock, s.until) == std::cv_status::timeout && s.round != nullptr &&
                   clock::now() >= s.until) {
            bark(*s.round);
        }
    }
}

}  // namespace

std::chrono::seconds& round_limit() {
    static std::chrono::seconds limit =
        std::chrono::duration_cast<std::chrono::seconds>(6 * test::long_delay());
    return limit;
}

void start_watchdog() {
    state& s = all();
    const std::lock_guard lock{s.mutex};
    if (!std::exchange(s.started, true)) {
        std::thread{watch}.detach();
    }
}

watched::watched(world& in) {
    state& s = all();
    const std::lock_guard lock{s.mutex};
    s.round = &in;
    s.until = clock::now() + round_limit();
    s.changed.notify_all();
}
watched::~watched() {
    state& s = all();
    const std::lock_guard lock{s.mutex};
    s.round = nullptr;
}

}  // namespace soak
