// hostile: what users' code may do to a pool from inside of its calls.
#pragma once

#include <utility>

#include "world.hpp"

namespace soak {

/// The destructor of a callable uses the pool of its task: size(), snapshot(), cancel(), try_execute(). A callable that was moved from
/// does so too, but submits nothing.
class last_words {
public:
    last_words(world& in, entry& e) noexcept : in_(&in), entry_(e.script % 5 == 0 ? &e : nullptr) {}
    last_words(last_words&& other) noexcept
        : in_(other.in_), entry_(other.entry_), moved_from_(std::exchange(other.moved_from_, true)) {}
    last_words& operator=(last_words&&) = delete;
    ~last_words() {
        if (entry_ != nullptr) {
            speak();
        }
    }

    [[nodiscard]] world& in() const { return *in_; }

private:
    void speak() const;

    world* in_;
    entry* entry_;  // null: it says nothing
    bool moved_from_ = false;
};

/// While one lives, no comparison on its thread throws.
class calm_comparisons {
public:
    calm_comparisons();
    ~calm_comparisons();
    calm_comparisons(const calm_comparisons&) = delete;
    calm_comparisons& operator=(const calm_comparisons&) = delete;
};

/// Orders tasks by priority, and throws now and then until the round ends.
class moody_order {
public:
    explicit moody_order(const slot& at) : at_(&at) {}
    bool operator()(const spool::task& a, const spool::task& b) const;

private:
    const slot* at_;
};

/// A destructor that runs a group while an exception is in flight. All children must run.
void group_while_unwinding(const place& at, slot& where, spool::thread_pool_executor& pool);
/// A wait of the current task whose stop cancels another task.
void cancel_at_stop(const place& at);
/// Tasks through a serial_executor from two threads. What it accepts must run while its pool runs.
void through_a_lane(const place& at, slot& where, spool::thread_pool_executor& pool);

}  // namespace soak
