// claimable_child: a child of a task_group that either a worker that dequeues it or the waiting
// maker starts.
//
// A maker on a worker must run the children that no thread has begun. If the queue has a store per
// consumer, the maker finds them there (blocking_queue::use_own). Any other queue would have to be
// searched. So such a child has two references: one in its queue entry, one in the list of its
// group. The claim of a future (future_word.hpp) decides which thread starts the child:
//
//     worker that dequeues the entry   try_hold(); the entry runs the child and destroys it
//     maker that waits                 try_claim(); the maker moves the child out and runs it
//     owner of an entry that is        try_hold(); the child is destroyed unrun
//     destroyed unrun
//
// Each is one compare-exchange, and none succeeds after the maker's. After the maker's claim the
// entry is stale: the pool counts it and drops it when it finds it, as it does for a
// future. The last of the two references frees the memory.
#pragma once

#include <typeinfo>
#include <utility>

#include "spool/base/task.hpp"
#include "spool/detail/task_scope.hpp"
#include "spool/detail/thread_sanitizer.hpp"
#include "spool/future/future.hpp"

namespace spool::inline v1::detail {

class claimable_child final : private freed_by_any_thread, public future_core {
public:
    /// Begins with two references: the group's, and the entry's.
    explicit claimable_child(task&& child) noexcept : child_(std::move(child)) {
        hand_over_in_library(sanitizer_key_of(child_.id()));  // with the memory of this node
    }
    ~claimable_child() override = default;

    /// The next child in the group's list.
    claimable_child* next = nullptr;

    /// For the winner of the claim.
    void call() { child_(); }
    [[nodiscard]] task take() noexcept { return std::move(child_); }
    /// The entry is destroyed. Destroys the child, unless the maker has claimed it.
    void drop_entry() noexcept {
        if (try_hold() != claim::stale) {
            child_ = nullptr;
        }
        hand_over_in_library(static_cast<freed_by_any_thread*>(this));
        drop_reference();
    }

private:
    // Of a future, only the claim is used: no thread waits for an outcome.
    void run_body(task_scope&) override {}
    void run_body_and_forget() override {}
    void destroy_callable() noexcept override {}
    [[nodiscard]] const std::type_info& body_type() const noexcept override { return typeid(task); }

    task child_;  // empty once it was moved out or destroyed
};

/// The callable of the child's queue entry.
class child_entry {
public:
    child_entry(claimable_child& child, const void* group) noexcept : child_(&child), group_(group) {}
    child_entry(child_entry&& other) noexcept
        : child_(std::exchange(other.child_, nullptr)), group_(other.group_) {}
    child_entry& operator=(child_entry&&) = delete;
    ~child_entry() {
        if (child_ != nullptr) {
            child_->drop_entry();
        }
    }

    void operator()() {
        // A future that runs inside the child must not adopt this scope.
        static_cast<void>(task_scope::adopt());
        // A queue of the user's may run an entry that no worker has claimed.
        if (child_->try_hold() != claim::stale) {
            child_->call();
        }
    }
    [[nodiscard]] task_id id() const noexcept { return child_->id(); }
    [[nodiscard]] future_core* core() const noexcept { return child_; }
    /// An id of the group. The group may be gone if the entry is stale.
    [[nodiscard]] const void* group() const noexcept { return group_; }

private:
    claimable_child* child_;
    const void* group_;
};
static_assert(fits_inline<child_entry>);

template <>
struct task_traits<child_entry> : no_task_traits {
    static constexpr bool is_future_body = true;
    static constexpr bool has_owner = true;
    [[nodiscard]] static task_id id(const child_entry& f) noexcept { return f.id(); }
    [[nodiscard]] static void* shared_state(const child_entry& f) noexcept { return f.core(); }
    [[nodiscard]] static const void* owner(const child_entry& f) noexcept { return f.group(); }
};

}  // namespace spool::inline v1::detail
