// Tells ThreadSanitizer about hand-overs between threads.
//
// A program compiled with -fsanitize=thread usually links a library that was compiled without.
// ThreadSanitizer does not see the atomic operations inside that library. It would report data that
// one thread writes and another reads after a correct hand-over. These functions announce each
// hand-over: the giver calls hand_over() and the receiver calls receive(), with the same key.
//
// The headers call them in code that the program compiles; without -fsanitize=thread they are
// empty. The compiled library calls the forms with `_in_library`, where hand-overs are rare. Those
// look for ThreadSanitizer at run time.
//
// A library that is itself instrumented needs no announcements. SPOOL_LIBRARY_IS_INSTRUMENTED turns
// them off, so that our own tests detect every missing hand-over.
#pragma once

#include <cstddef>
#include <stop_token>

#include "spool/base/export.hpp"
#include "spool/base/task_id.hpp"

#if !defined(SPOOL_LIBRARY_IS_INSTRUMENTED)
#if defined(__SANITIZE_THREAD__)
#define SPOOL_TELLS_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SPOOL_TELLS_THREAD_SANITIZER 1
#endif
#endif
#endif

// Marks a function that pools and queues call on any thread while they hold a task. ThreadSanitizer
// ignores the accesses in it.
#if defined(SPOOL_TELLS_THREAD_SANITIZER)
#define SPOOL_UNWATCHED __attribute__((no_sanitize("thread")))
#else
#define SPOOL_UNWATCHED
#endif

#if defined(SPOOL_TELLS_THREAD_SANITIZER)
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): ThreadSanitizer's names
extern "C" {
void __tsan_acquire(void* key);
void __tsan_release(void* key);
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}  // NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
#endif

namespace spool::inline v1::detail {

/// Each task maps to one key. Tasks whose ids are equal modulo sanitizer_keys share a key. A shared
/// key can hide a race, but never causes a false report.
struct alignas(8) sanitizer_key {
    std::byte unused{};
};
inline constexpr std::size_t sanitizer_keys = 4096;
SPOOL_API extern sanitizer_key task_keys[sanitizer_keys];

[[nodiscard]] inline void* sanitizer_key_of(task_id id) noexcept {
    return &task_keys[id % sanitizer_keys];
}

/// For the compiled library, outside the hot path.
SPOOL_API void hand_over_in_library(const void* key) noexcept;
SPOOL_API void receive_in_library(const void* key) noexcept;

/// For the compiled library: base of an object that one thread allocates and another may free.
/// ThreadSanitizer treats both the allocation and the deallocation as writes.
class freed_by_any_thread {
public:
    freed_by_any_thread(const freed_by_any_thread&) = delete;
    freed_by_any_thread& operator=(const freed_by_any_thread&) = delete;

protected:
    freed_by_any_thread() noexcept { hand_over_in_library(this); }
    ~freed_by_any_thread() { receive_in_library(this); }
};

/// For the compiled library, instrumented or not: ThreadSanitizer ignores this thread's accesses in
/// the lifetime of this object. Covers the release of an exception: the C++ library counts the
/// references to an exception in code that is never instrumented, so ThreadSanitizer would report
/// the last release as a race with a catch block on another thread.
class SPOOL_API unwatched_release {
public:
    unwatched_release() noexcept;
    unwatched_release(const unwatched_release&) = delete;
    unwatched_release& operator=(const unwatched_release&) = delete;
    ~unwatched_release();
};

/// For the compiled library: ThreadSanitizer does not treat memory allocated in the lifetime of
/// this object as written by this thread. Does nothing in an instrumented library, so that the
/// tests see every missing hand-over of that memory.
#if defined(SPOOL_LIBRARY_IS_INSTRUMENTED)
struct unwatched_allocation {
    unwatched_allocation() noexcept {}
};
#else
using unwatched_allocation = unwatched_release;
#endif

#if defined(SPOOL_TELLS_THREAD_SANITIZER)

inline void hand_over(const volatile void* key) noexcept {
    __tsan_release(const_cast<void*>(key));
}
inline void receive(const volatile void* key) noexcept {
    __tsan_acquire(const_cast<void*>(key));
}
inline void hand_over_task(task_id id) noexcept {
    hand_over(sanitizer_key_of(id));
}
inline void receive_task(task_id id) noexcept {
    receive(sanitizer_key_of(id));
}

/// Surrounds an operation of the callable in a task's storage at `at`. The constructor receives
/// what the previous holder of the task handed over; the destructor hands over to the next holder.
/// The task's id lies directly before its storage.
class task_watch {
public:
    explicit task_watch(const void* at) noexcept : id_(id_before(at)) { receive_task(id_); }
    task_watch(const task_watch&) = delete;
    task_watch& operator=(const task_watch&) = delete;
    ~task_watch() { hand_over_task(id_); }

private:
    // Not instrumented: the queues wrote the id, and they are not instrumented either.
    SPOOL_UNWATCHED static task_id id_before(const void* at) noexcept {
        return *(static_cast<const task_id*>(at) - 1);
    }
    task_id id_;
};

/// The same for a move into or out of a queue. Other threads reuse the queue's slots, so
/// ThreadSanitizer must ignore all accesses of the move.
class unwatched_move {
public:
    explicit unwatched_move(const void* to) noexcept : watch_(to) {
        AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
        AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    }
    unwatched_move(const unwatched_move&) = delete;
    unwatched_move& operator=(const unwatched_move&) = delete;
    ~unwatched_move() {
        AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
        AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    }

private:
    task_watch watch_;
};

#else

inline void hand_over(const volatile void*) noexcept {}
inline void receive(const volatile void*) noexcept {}
inline void hand_over_task(task_id) noexcept {}
inline void receive_task(task_id) noexcept {}
struct task_watch {
    explicit task_watch(const void*) noexcept {}
};
struct unwatched_move {
    explicit unwatched_move(const void*) noexcept {}
};

#endif

// Not inlined, and kept in a program that ThreadSanitizer watches. The linker then makes the
// library call the program's copy, whose hand-overs through std::stop_callback are visible.
#if defined(__clang__)
#define SPOOL_OUT_OF_LINE __attribute__((noinline))
#elif defined(__GNUC__)
#define SPOOL_OUT_OF_LINE __attribute__((noipa))
#else
#define SPOOL_OUT_OF_LINE
#endif
#if defined(SPOOL_TELLS_THREAD_SANITIZER)
#define SPOOL_KEPT __attribute__((used))
#else
#define SPOOL_KEPT
#endif
/// Calls source.request_stop(), which may run stop callbacks of the user.
SPOOL_API SPOOL_OUT_OF_LINE SPOOL_KEPT inline void request_stop_of(std::stop_source& source) noexcept {
    source.request_stop();
}
#undef SPOOL_OUT_OF_LINE
#undef SPOOL_KEPT

}  // namespace spool::inline v1::detail
