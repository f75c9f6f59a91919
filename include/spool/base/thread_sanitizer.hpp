// Hand-overs that ThreadSanitizer must know of.
//
// A program compiled with -fsanitize=thread usually links a library that was not. ThreadSanitizer does not see the
// atomic operations inside that library, so it would report what one thread writes and another reads after a correct
// hand-over. These functions name each hand-over: the giver calls hand_over(), the receiver calls receive(), with the
// same key.
//
// The headers call them in code that the program compiles. Without -fsanitize=thread they are empty. The compiled
// library calls the forms with `_in_library`, where hand-overs are rare: they look for ThreadSanitizer at run time.
//
// A library that is itself instrumented needs none of this: SPOOL_LIBRARY_IS_INSTRUMENTED turns it off, so that our
// own tests see every hand-over that is missing.
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

// Marks a function that pools and queues call on any thread, while they hold a task: its reads are not looked at.
#if defined(SPOOL_TELLS_THREAD_SANITIZER)
#define SPOOL_UNWATCHED __attribute__((no_sanitize("thread")))
#else
#define SPOOL_UNWATCHED
#endif

#if defined(SPOOL_TELLS_THREAD_SANITIZER)
extern "C" {  // NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): ThreadSanitizer's names
void __tsan_acquire(void* key);
void __tsan_release(void* key);
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}  // NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
#endif

namespace spool::inline v1::detail {

/// One key per task, shared by tasks whose ids are equal modulo their number. A shared key can hide a race, but
/// never reports a false one.
struct alignas(8) sanitizer_key {
    std::byte unused{};
};
inline constexpr std::size_t sanitizer_keys = 4096;
SPOOL_API extern sanitizer_key keys_of_tasks[sanitizer_keys];

[[nodiscard]] inline void* sanitizer_key_of(task_id id) noexcept {
    return &keys_of_tasks[id % sanitizer_keys];
}

/// For the compiled library, off the hot path.
SPOOL_API void hand_over_in_library(const void* key) noexcept;
SPOOL_API void receive_in_library(const void* key) noexcept;

/// For the compiled library: base of an object that one thread allocates and another may free. ThreadSanitizer counts both
/// as writes.
class freed_elsewhere {
public:
    freed_elsewhere(const freed_elsewhere&) = delete;
    freed_elsewhere& operator=(const freed_elsewhere&) = delete;

protected:
    freed_elsewhere() noexcept { hand_over_in_library(this); }
    ~freed_elsewhere() { receive_in_library(this); }
};

/// For the compiled library, instrumented or not: ThreadSanitizer ignores this thread's accesses during the guard's life. The guard
/// covers the release of an exception. The C++ library counts references to an exception in code that is never
/// instrumented, so the last release would be reported as a race with a catch block on another thread.
class SPOOL_API unwatched_release {
public:
    unwatched_release() noexcept;
    unwatched_release(const unwatched_release&) = delete;
    unwatched_release& operator=(const unwatched_release&) = delete;
    ~unwatched_release();
};

/// For the compiled library: memory allocated during this object's life does not count as written by this thread. Empty in an
/// instrumented library, so that the tests see every missing hand-over of that memory.
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

/// What a task's callable does at `at`, in the task's storage: it receives what the submitter gave, and hands on what it did.
/// The task's id stands before its storage.
class task_watch {
public:
    explicit task_watch(const void* at) noexcept : id_(id_before(at)) { receive_task(id_); }
    task_watch(const task_watch&) = delete;
    task_watch& operator=(const task_watch&) = delete;
    ~task_watch() { hand_over_task(id_); }

private:
    // Not instrumented: the queues, which are not either, have written the id.
    SPOOL_UNWATCHED static task_id id_before(const void* at) noexcept {
        return *(static_cast<const task_id*>(at) - 1);
    }
    task_id id_;
};

/// The same for a move into or out of a queue, whose places are used again by other threads: no access is looked at.
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

// Out of line, and kept by a program that ThreadSanitizer watches: the linker then gives the library the program's copy,
// whose hand-overs with std::stop_callback are visible.
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
/// source.request_stop(), where callbacks of the user may be called.
SPOOL_API SPOOL_OUT_OF_LINE SPOOL_KEPT inline void request_stop_of(std::stop_source& source) noexcept {
    source.request_stop();
}
#undef SPOOL_OUT_OF_LINE
#undef SPOOL_KEPT

}  // namespace spool::inline v1::detail
