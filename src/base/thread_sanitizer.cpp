#include "spool/detail/thread_sanitizer.hpp"

// The weak symbols are null unless the program that links this library was compiled with
// -fsanitize=thread.
#if defined(__linux__)
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): ThreadSanitizer's names
extern "C" {
[[gnu::weak]] void __tsan_acquire(void* key);
[[gnu::weak]] void __tsan_release(void* key);
[[gnu::weak]] void AnnotateIgnoreWritesBegin(const char* file, int line);
[[gnu::weak]] void AnnotateIgnoreWritesEnd(const char* file, int line);
}  // NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace spool::inline v1::detail {

unwatched_release::unwatched_release() noexcept {
    if (&AnnotateIgnoreWritesBegin != nullptr) {
        AnnotateIgnoreWritesBegin("thread_sanitizer.cpp", __LINE__);
    }
}
unwatched_release::~unwatched_release() {
    if (&AnnotateIgnoreWritesEnd != nullptr) {
        AnnotateIgnoreWritesEnd("thread_sanitizer.cpp", __LINE__);
    }
}

}  // namespace spool::inline v1::detail

#else

namespace spool::inline v1::detail {

unwatched_release::unwatched_release() noexcept = default;
unwatched_release::~unwatched_release() = default;

}  // namespace spool::inline v1::detail

#endif

#if defined(__linux__) && !defined(SPOOL_LIBRARY_IS_INSTRUMENTED)

namespace spool::inline v1::detail {

void hand_over_in_library(const void* key) noexcept {
    if (&__tsan_release != nullptr) {
        __tsan_release(const_cast<void*>(key));
    }
}
void receive_in_library(const void* key) noexcept {
    if (&__tsan_acquire != nullptr) {
        __tsan_acquire(const_cast<void*>(key));
    }
}

}  // namespace spool::inline v1::detail

#else

namespace spool::inline v1::detail {

void hand_over_in_library(const void*) noexcept {}
void receive_in_library(const void*) noexcept {}

}  // namespace spool::inline v1::detail

#endif

namespace spool::inline v1::detail {

constinit sanitizer_key task_keys[sanitizer_keys]{};

}  // namespace spool::inline v1::detail
