#include "acts.hpp"

#include <array>

namespace tour {
namespace {

constexpr std::size_t raised_core = 8;
constexpr std::size_t lowered_core = 2;
constexpr std::size_t lowered_maximum = 4;
constexpr std::size_t resize_tasks = 10;
constexpr std::size_t last_tasks = 6;
constexpr std::size_t refused_tasks = 5;

void submit(stage& s, std::size_t n, int beats_each) {
    for (std::size_t i = 0; i < n; ++i) {
        s.submit();
        s.play(beats_each);
    }
}

void finish(stage& s, std::size_t n, int beats_each) {
    for (std::size_t i = 0; i < n; ++i) {
        s.finish();
        s.play(beats_each);
    }
}

void core_growth(stage& s) {
    submit(s, core_size, 8);
}

void queueing(stage& s) {
    submit(s, queue_capacity, 3);
}

void growth(stage& s) {
    submit(s, maximum_size - core_size, 8);
}

void rejection(stage& s) {
    submit(s, refused_tasks, 6);
}

void draining(stage& s) {
    finish(s, maximum_size + queue_capacity, 2);
    s.play_until_all_completed();
}

void shrinking(stage& s) {
    s.play_until_size(core_size);
    s.play(8);
}

void resize_up(stage& s) {
    submit(s, core_size, 2);
    s.play_until_active(core_size);
    submit(s, resize_tasks - core_size, 2);
    s.pool().set_core_size(raised_core);
    s.play_until_active(raised_core);
    s.play(16);
}

void resize_down(stage& s) {
    s.pool().set_keep_alive(s.beats(8));
    s.pool().set_core_size(lowered_core);
    s.pool().set_maximum_size(lowered_maximum);
    s.play(8);
    finish(s, resize_tasks, 3);
    s.play_until_all_completed();
    s.play_until_size(lowered_core);
    s.play(4);
}

void shutdown(stage& s) {
    submit(s, lowered_core, 2);
    s.play_until_active(lowered_core);
    submit(s, last_tasks - lowered_core, 2);
    s.pool().shutdown();
    s.submit();
    s.play(8);
    finish(s, last_tasks, 4);
    s.play_until_terminated();
    s.play(4);
}

constexpr std::array<act, 9> all{{
    {{"Core growth", "Below the core size every task starts a worker of its own."}, core_growth},
    {{"Queueing", "The core workers are busy: tasks wait in the queue, the pool does not grow."}, queueing},
    {{"Growth to the maximum", "Only a full queue makes the pool grow beyond its core size."}, growth},
    {{"Rejection", "Queue full, all workers there: the policy decides, this one throws."}, rejection},
    {{"Draining", "As tasks end, each worker takes the next from the queue."}, draining},
    {{"Shrinking", "A worker above the core size leaves when it had no task for the keep-alive."}, shrinking},
    {{"Resize up", "Raise the core size, and queued tasks get their workers at once."}, resize_up},
    {{"Resize down", "Lower the maximum, and workers leave as soon as their task has ended."}, resize_down},
    {{"Shutdown", "New tasks are refused, queued ones still run, then the workers leave."}, shutdown},
}};

}  // namespace

std::span<const act> acts() {
    return all;
}

}  // namespace tour
