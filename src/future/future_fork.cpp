// How a forked child reads the futures whose tasks the parent's pools held.
#include "base/fork/fork_registry.hpp"
#include "spool/detail/future_link.hpp"
#include "spool/future/detail/future_core.hpp"

namespace spool::inline v1 {
namespace {

// Names the thread that forked. Written only while the process has a single thread.
constinit const void* survivor_mark = nullptr;

[[maybe_unused]] const bool joins_forks =
    detail::join_forks(detail::fork_order::futures, {nullptr, detail::future_core::after_fork_in_child});

}  // namespace

void detail::future_core::after_fork_in_child() noexcept {
    survivor_mark = mark_of_this_thread();
}

// The future is the parent's. If a pool of the parent has the task, no thread of the child
// completes the future. The exception is the thread that forked: it continues what it ran before.
detail::future_word detail::future_core::word_after_fork(future_word seen) const noexcept {
    if (!is_abandoned(owner_.load().address())) {
        return seen;
    }
    const bool goes_on = seen.now() == phase::running
                             ? task_scope::is_of_forking_thread(seen.who<task_scope>())
                             : seen == future_word{phase::completing, survivor_mark}.after(seen);
    return goes_on ? seen : future_word{phase::cancelled}.after(seen);
}

}  // namespace spool::inline v1
