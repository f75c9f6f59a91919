// fork_registry: what the library does around fork().
//
// A forked child has one thread, the one that forked, and a copy of everything as it was at that
// instant. Other threads may have been inside any lock, or in the middle of any change. So the
// child uses nothing of the parent that has a lock or threads: each part of the library abandons
// it, and starts with a state of its own. What is abandoned stays in memory until the process ends.
//
// In the child no thread runs the tasks of the parent's pools. So the child abandons the owners of
// futures (pools and timer_gates) by name. A future that names an abandoned owner, and is not done,
// reads as cancelled. Nothing is written for that, nothing of the task is destroyed, and callbacks
// that the parent registered are not called.
#pragma once

#include <memory>
#include <utility>

#include "spool/detail/mutex.hpp"

namespace spool::inline v1::detail {

/// The participants, in the order in which the child calls them. Task ids and scopes come before
/// all of them. The locks are acquired in the reverse order.
enum class fork_order { futures, pools, timer_gates, deadlock_watch, count };

struct fork_participant {
    /// fork() waits for it, so the child finds whole what it guards. May be null.
    detail::mutex* guard;
    /// Called in the child, on its only thread, under `guard`. Must run no user code and allocate
    /// nothing.
    void (*in_child)() noexcept;
};

/// Call it during static initialisation, so that no fork() can come first. Returns false if there
/// is no fork().
bool join_forks(fork_order place, fork_participant who) noexcept;

/// A member of each owner of futures: the entry in the list of those that a child has abandoned.
class abandonable {
public:
    abandonable() = default;
    abandonable(const abandonable&) = delete;
    abandonable& operator=(const abandonable&) = delete;

    /// For in_child(). `keep` holds the owner in memory.
    void abandon(const void* owner, std::shared_ptr<void> keep = nullptr) noexcept;

private:
    friend bool is_abandoned(const void* owner) noexcept;

    const void* owner_ = nullptr;
    std::shared_ptr<void> keep_;
    const abandonable* next_ = nullptr;
};

[[nodiscard]] bool is_abandoned(const void* owner) noexcept;

/// The id of this process, for messages; 0 on systems without fork().
[[nodiscard]] long process_id() noexcept;

}  // namespace spool::inline v1::detail
