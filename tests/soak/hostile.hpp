// hostile: what users' code may do to a pool while the pool calls that code.
#pragma once

#include <utility>

#include "world.hpp"

namespace soak {

/// A member of a callable whose destructor uses the task's pool: size(), snapshot(), cancel(),
/// try_execute(). A moved-from callable calls only size() and snapshot().
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
    entry* entry_;  // null: the destructor does nothing
    bool moved_from_ = false;
};

/// While an object of it lives, no comparison on its thread throws.
class calm_comparisons {
public:
    calm_comparisons();
    ~calm_comparisons();
    calm_comparisons(const calm_comparisons&) = delete;
    calm_comparisons& operator=(const calm_comparisons&) = delete;
};

/// Orders tasks by priority. Some comparisons throw, until the round begins to end.
class moody_order {
public:
    explicit moody_order(const slot& at) : at_(&at) {}
    bool operator()(const spool::task& a, const spool::task& b) const;

private:
    const slot* at_;
};

/// Runs a group in a destructor during stack unwinding. All children must run.
void group_while_unwinding(const place& at, slot& where, spool::thread_pool_executor& pool);
/// The current task sleeps for a while. Its stop cancels another task.
void cancel_at_stop(const place& at);
/// Two threads submit tasks to a serial_executor. Every task that it accepts must run while its
/// pool runs.
void through_a_lane(const place& at, slot& where, spool::thread_pool_executor& pool);

}  // namespace soak
