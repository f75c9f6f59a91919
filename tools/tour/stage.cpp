#include "stage.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

namespace tour {
namespace {

using namespace std::chrono_literals;

constexpr auto time_between_looks = 50ms;
constexpr auto patience = 10s;
constexpr int keep_alive_beats = 24;

std::atomic<int> caught_signal{0};
static_assert(std::atomic<int>::is_always_lock_free, "used in a signal handler");

}  // namespace

void request_curtain(int signal) noexcept {
    caught_signal = signal;
}

stage::stage(view& audience, std::chrono::milliseconds beat, std::size_t acts)
    : audience_(audience),
      beat_(beat),
      pool_({
          .name = "tour",
          .core_size = core_size,
          .maximum_size = maximum_size,
          .keep_alive = keep_alive_beats * beat,
          .queue = std::make_unique<spool::array_blocking_queue<spool::task>>(queue_capacity),
      }) {
    now_.acts = acts;
    now_.pool = pool_.snapshot();
}

stage::~stage() {
    static_cast<void>(pool_.shutdown_now());
}

void stage::begin(act_text text) {
    ++now_.act;
    now_.text = text;
    before_ = now_.pool;
    records_.push_back({.title = text.title});
    audience_.begin_act(observe());
}

void stage::end() {
    const frame last = observe();
    records_.back().last_size = last.pool.pool_size;
    records_.back().rejected = last.pool.rejected - before_.rejected;
    records_.back().completed = last.pool.completed - before_.completed;
    audience_.end_act(last);
}

void stage::submit() {
    try {
        pool_.execute([this] { static_cast<void>(permits_.take()); });
        ++accepted_;
    } catch (const spool::rejected_execution&) {
        ++refused_;
    }
    observe();
}

void stage::finish() {
    permits_.put('.');
}

void stage::play_for(std::chrono::milliseconds d) {
    const auto end = std::chrono::steady_clock::now() + d;
    for (auto now = std::chrono::steady_clock::now(); now < end; now = std::chrono::steady_clock::now()) {
        if (const int signal = caught_signal; signal != 0) {
            throw curtain{signal};
        }
        if (now >= next_look_) {
            audience_.show(observe());
            next_look_ = std::max(next_look_ + time_between_looks, now);
        }
        std::this_thread::sleep_until(std::min(end, next_look_));
    }
}

template <class Condition>
void stage::play_until(Condition condition, const char* what) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) {
            throw show_failed(std::string{"waited in vain until "} + what + ": " +
                              spool::to_string(pool_.snapshot()));
        }
        play(1);
    }
}

void stage::play_until_size(std::size_t n) {
    play_until([&] { return pool_.pool_size() == n; }, "the pool has shrunk to its core size");
}

void stage::play_until_active(std::size_t n) {
    play_until([&] { return pool_.active_count() == n; }, "every worker has a task");
}

void stage::play_until_all_completed() {
    play_until([&] { return pool_.completed_task_count() == accepted_; }, "every accepted task is completed");
}

void stage::play_until_terminated() {
    play_until([&] { return pool_.is_terminated(); }, "the pool has terminated");
}

frame stage::observe() {
    now_.elapsed =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start_);
    now_.accepted = accepted_;
    now_.pool = pool_.snapshot();
    act_record& record = records_.back();
    record.peak_size = std::max(record.peak_size, now_.pool.pool_size);
    record.peak_queue = std::max(record.peak_queue, now_.pool.queued);
    return now_;
}

}  // namespace tour
