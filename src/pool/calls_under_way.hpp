// calls_under_way: a check for debug builds that no thread is inside execute() when the pool is
// destroyed.
//
// execute() looks at the control word after the queue has taken the task (E2 in
// admission_path.hpp). A task that destroys the pool before that destroys the word too. To prevent
// this, release builds would have to count every call, so they make it the caller's duty. Debug
// builds count, and name the error.
//
// Not counted: calls on the pool's own workers, for which the destructor waits; a task that a
// rejection policy runs in the caller; and waits for room. The last two keep the pool's core alive
// or do not look at it again.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <utility>

namespace spool::inline v1 {

class calls_under_way {
#if defined(NDEBUG)
    static constexpr bool is_checked = false;
#else
    static constexpr bool is_checked = true;
#endif

public:
    /// One call, while it may touch the pool. Counted only if `is_counted()` returns true.
    class entry {
    public:
        template <class IsCounted>
        entry(calls_under_way& calls, IsCounted&& is_counted) noexcept
            : calls_(is_checked && is_counted() ? &calls : nullptr) {
            if (calls_ != nullptr) {
                calls_->count_.fetch_add(1);
            }
        }
        entry(const entry&) = delete;
        entry& operator=(const entry&) = delete;
        ~entry() { end(); }
        /// From here on the call does not touch the pool, or keeps alive what it touches.
        void end() noexcept {
            if (is_checked && calls_ != nullptr) {
                std::exchange(calls_, nullptr)->count_.fetch_sub(1);
            }
        }

    private:
        calls_under_way* calls_;
    };

    /// Ends the process with a message that names the pool, if any call is under way.
    void expect_none(const std::string& pool) const noexcept {
        if (const std::size_t n = count_.load(); n != 0) {
            fail(pool, n);
        }
    }

private:
    [[noreturn]] static void fail(const std::string& pool, std::size_t n) noexcept;

    std::atomic<std::size_t> count_{0};
};

}  // namespace spool::inline v1
